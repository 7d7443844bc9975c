// Reader of the tables of nccl-tests in a text, of every version and with anything around them:
// "     1048576        262144     float     sum      -1    57.31   18.30   32.02      0    56.88   18.43
// 32.26      0".
// A row is two integers and a type of elements; the lines above it say on what it ran. Times, checks,
// devices, versions and forced algorithms are taken; the printed bandwidths only help to tell the collective.
#include <algorithm>
#include <set>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/nccl_tests_table.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// Limits of iterations, and of threads in one process.
constexpr int kMostIterations = 1'000'000'000, kMostThreads = 64;

/// Returns the line without "#" of comments and ">" of quotations in front.
std::string_view without_hash(std::string_view line) {
  line = trimmed(line);
  while (line.starts_with('#') || line.starts_with('>')) line = trimmed(line.substr(1));
  return line;
}

/// Reads one log, which may hold several tables of several runs.
class NcclReader {
 public:
  NcclReader(const SourceText& source, const LogHints& hints, SampleSheet& sheet)
      : source_(source), hints_(hints), sheet_(sheet) {
    table_.ranks_said = stated_count("ranks"), table_.stated_nodes = stated_count("nodes");
  }

  void read() {
    LogLine line;
    for (LogLines lines(source_.text); lines.next(line) && goes_on_;) {
      const Words words = words_of(line.text);
      if (is_nccl_row(words, is_open_)) {
        take_row(words, line.number);
      } else if (is_open_ && words.size() < 3 && !words.empty() &&
                 std::all_of(words.begin(), words.end(),
                             [](std::string_view word) { return integer_of(word).has_value(); })) {
        goes_on_ = sheet_.count_row();
        sheet_.skip(line.number, "the line ends early");
      } else if (words.empty()) {
        is_open_ = false;
      } else {
        read_text(without_hash(line.text));
      }
    }
    finish_table();
  }

 private:
  /// Returns a number of the comments at the top of the log; 0 when they have none.
  int stated_count(const char* key) const {
    return static_cast<int>(
        std::clamp<std::int64_t>(integer_of(comment_fact(source_.text, key)).value_or(0), 0, 10'000'000));
  }

  /// Adds a row to the table. A row without a header opens a table too.
  void take_row(const Words& words, int line) {
    goes_on_ = sheet_.count_row();
    table_.rows.push_back(read_nccl_row(words, layout_, line));
    is_open_ = true;
  }

  /// Reads a line that is no row, by its beginning.
  void read_text(std::string_view line) {
    if (is_nccl_header(line)) return begin_table(words_of(line));
    if (line.starts_with("Rank ")) return read_rank(words_of(line));
    if (line.starts_with("nThread ")) begin_run(line);
    if (line.starts_with("Out of bounds")) is_open_ = false;
    read_versions(line);
    if (holds(line, "NCCL INFO")) return read_nccl_info(line);
    const std::string program = op_of_program(line);
    if (line.starts_with("Collective test starting") && !table_.rows.empty()) finish_table();
    if (line.starts_with("Collective test concluded") && !program.empty()) table_.named = program;
    if (!program.empty()) named_ = program;
    if (const std::string op = op_mentioned(line); !op.empty()) mentioned_ = op;
  }

  /// Begins a run: "# nThread 1 nGpus 8 minBytes 8 …". Facts of the run before do not hold for it.
  void begin_run(std::string_view line) {
    finish_table();
    forget_devices();
    iterations_ = static_cast<int>(std::clamp<std::int64_t>(iterations_in(line), 1, kMostIterations));
    const std::int64_t threads = integer_behind(line, "nThread").value_or(1);
    threads_ = static_cast<int>(std::clamp<std::int64_t>(threads, 1, kMostThreads));
  }

  /// Drops the listed devices.
  void forget_devices() {
    devices_ = {};
    listed_.clear();
  }

  /// Returns the timed iterations of "warmup iters: 5 iters: 20 agg iters: 1", here 20.
  static std::int64_t iterations_in(std::string_view line) {
    const std::string_view rest = text_behind(line, "warmup iters:");
    return integer_behind(rest, "iters:").value_or(1);
  }

  /// Begins a table at its header.
  void begin_table(const Words& header) {
    finish_table();
    layout_ = nccl_layout_of(header);
    table_.named = named_, table_.mentioned = mentioned_;
    is_open_ = true;
  }

  /// Ends the table and turns its rows into samples. What stands below a table may name its collective, so
  /// names are filled in only here.
  void finish_table() {
    if (!table_.rows.empty()) {
      if (table_.named.empty()) table_.named = named_;
      if (table_.mentioned.empty()) table_.mentioned = mentioned_;
      table_.devices = devices_;
      if (devices_.ranks == 0 && info_ranks_ > 0)
        table_.devices.ranks = info_ranks_, table_.devices.hosts = info_hosts_;
      table_.iterations = iterations_, table_.threads = threads_;
      table_.version = version_, table_.algorithm = algorithm_, table_.protocol = protocol_;
      add_table(table_, hints_, source_.name, sheet_);
    }
    table_.rows.clear();
    table_.named.clear(), table_.mentioned.clear();
    is_open_ = false;
  }

  /// Reads a device: "Rank 0 Group 0 Pid 123 on host device 0 [0x07] NVIDIA A100".
  void read_rank(const Words& words) {
    const auto word_behind = [&](std::string_view mark) {
      const auto at = std::find(words.begin(), words.end(), mark);
      return at == words.end() || at + 1 == words.end() ? std::string() : std::string(at[1]);
    };
    const auto rank = integer_of(word_behind("Rank"));
    const std::string host = word_behind("on");
    if (!rank || *rank < 0 || *rank >= kMostSampleGpus || host.empty() || word_behind("device").empty())
      return;
    // A list behind a table is that of the next run.
    if (!table_.rows.empty()) finish_table(), forget_devices();
    devices_.is_doubled = devices_.is_doubled || !listed_.insert(*rank).second;
    devices_.ranks = std::max(devices_.ranks, static_cast<int>(*rank) + 1);
    devices_.hosts.insert(host);
    if (const std::string process = word_behind("Pid"); !process.empty())
      devices_.processes.emplace(host, process);
    const auto bus =
        std::find_if(words.begin(), words.end(), [](std::string_view word) { return word.starts_with('['); });
    for (auto word = bus == words.end() ? bus : bus + 1; word != words.end() && *rank == 0; ++word)
      devices_.gpu += (devices_.gpu.empty() ? "" : " ") + std::string(*word);
    sheet_.state("gpu", devices_.gpu);
    sheet_.state("host", host);
  }

  /// Reads "host:12:34 [0] NCCL INFO comm 0x5 rank 3 nranks 32 cudaDev 3", which tells ranks and nodes where
  /// no devices are listed.
  void read_nccl_info(std::string_view line) {
    const auto count = integer_behind(line, " nranks ");
    if (!count || *count < 1 || *count > kMostSampleGpus) return;
    info_ranks_ = static_cast<int>(*count);
    info_hosts_.insert(std::string(line.substr(0, std::min(line.find(':'), std::size_t{80}))));
  }

  /// Reads versions of NCCL and CUDA, and what the environment forces.
  void read_versions(std::string_view line) {
    if (const std::string_view said = text_behind(line, "NCCL version "); !said.empty())
      set_version(said.substr(0, said.find_first_of(" +")), said);
    if (const auto code = integer_behind(line, "nccl-library=")) set_version(nccl_version_of_code(*code), "");
    algorithm_ = forced(line, "NCCL_ALGO", algorithm_);
    protocol_ = forced(line, "NCCL_PROTO", protocol_);
  }

  /// Keeps a version of NCCL, and that of CUDA behind "+cuda".
  void set_version(std::string_view version, std::string_view said) {
    const bool is_version = !version.empty() &&
                            version.find_first_not_of("0123456789.") == std::string_view::npos &&
                            holds(version, ".");
    if (is_version) version_ = version;
    if (is_version) sheet_.state("nccl", version_);
    if (const std::size_t cuda = said.find("+cuda"); cuda != std::string_view::npos)
      sheet_.state("cuda", std::string(said.substr(
                               cuda + 5, said.find_first_not_of("0123456789.", cuda + 5) - cuda - 5)));
  }

  /// Returns the value that the environment forces, in lower case: "NCCL_ALGO=Ring" or "NCCL_ALGO set by
  /// environment to Ring".
  /// Returns `before` for other lines, and "" for lists, which leave the choice open.
  static std::string forced(std::string_view line, std::string_view key, const std::string& before) {
    std::string_view rest = text_behind(line, key);
    if (rest.starts_with("=")) {
      rest.remove_prefix(1);
    } else if (rest.starts_with("set by environment to")) {
      rest = text_behind(rest, "set by environment to");
    } else {
      return before;
    }
    if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
    const std::string value = lower_case(rest.substr(
        0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")));
    const bool is_one =
        value.size() == rest.size() || (!value.empty() && !holds(",:;^", rest.substr(value.size(), 1)));
    return is_one ? value : "";
  }

  /// The table that is being read, and facts that hold for the tables that follow.
  const SourceText& source_;
  const LogHints& hints_;
  SampleSheet& sheet_;
  NcclTable table_;
  NcclLayout layout_;
  NcclDevices devices_;
  /// Ranks that were listed, to find those that are listed twice.
  std::set<std::int64_t> listed_;
  /// Ranks and hosts by lines of NCCL_DEBUG=INFO.
  int info_ranks_ = 0;
  std::set<std::string> info_hosts_;
  std::string named_, mentioned_, version_, algorithm_, protocol_;
  int iterations_ = 1, threads_ = 1;
  /// True inside of a table; false once the limit of rows is reached.
  bool is_open_ = false, goes_on_ = true;
};

}  // namespace

// The text may be large, so lines without "algbw" are passed over.
bool is_nccl_tests(std::string_view text) {
  for (std::size_t at = text.find("algbw"); at != std::string_view::npos;) {
    const std::size_t begin = text.rfind('\n', at) + 1, end = std::min(text.find('\n', at), text.size());
    if (is_nccl_header(text.substr(begin, end - begin))) return true;
    at = text.find("algbw", end);
  }
  return false;
}

void read_nccl_tests(const SourceText& source, const LogHints& hints, SampleSheet& sheet) {
  NcclReader(source, hints, sheet).read();
}

}  // namespace foretrain

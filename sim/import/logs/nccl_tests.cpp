// Tables of nccl-tests in a text, of every version and with anything around them. A row is two integers and a
// type; what stands above it says on what it ran.
#include <algorithm>
#include <set>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/nccl_tests_table.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

constexpr int kMostIterations = 1'000'000'000, kMostThreads = 64;

std::string_view without_hash(std::string_view line) {
  line = trimmed(line);
  while (line.starts_with('#') || line.starts_with('>')) line = trimmed(line.substr(1));
  return line;
}

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
  int stated_count(const char* key) const {
    return static_cast<int>(
        std::clamp<std::int64_t>(integer_of(comment_fact(source_.text, key)).value_or(0), 0, 10'000'000));
  }

  void take_row(const Words& words, int line) {
    goes_on_ = sheet_.count_row();
    table_.rows.push_back(read_nccl_row(words, layout_, line));
    is_open_ = true;
  }

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

  void begin_run(std::string_view line) {
    finish_table();
    forget_devices();
    iterations_ = static_cast<int>(std::clamp<std::int64_t>(iterations_in(line), 1, kMostIterations));
    const std::int64_t threads = integer_behind(line, "nThread").value_or(1);
    threads_ = static_cast<int>(std::clamp<std::int64_t>(threads, 1, kMostThreads));
  }

  void forget_devices() {
    devices_ = {};
    listed_.clear();
  }

  /// "warmup iters: 5 iters: 20 agg iters: 1": the second.
  static std::int64_t iterations_in(std::string_view line) {
    const std::string_view rest = text_behind(line, "warmup iters:");
    return integer_behind(rest, "iters:").value_or(1);
  }

  void begin_table(const Words& header) {
    finish_table();
    layout_ = nccl_layout_of(header);
    table_.named = named_, table_.mentioned = mentioned_;
    is_open_ = true;
  }

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

  /// Rank 0 Group 0 Pid 123 on host device 0 [0x07] NVIDIA A100
  void read_rank(const Words& words) {
    const auto word_behind = [&](std::string_view mark) {
      const auto at = std::find(words.begin(), words.end(), mark);
      return at == words.end() || at + 1 == words.end() ? std::string() : std::string(at[1]);
    };
    const auto rank = integer_of(word_behind("Rank"));
    const std::string host = word_behind("on");
    if (!rank || *rank < 0 || *rank >= kMostSampleGpus || host.empty() || word_behind("device").empty())
      return;
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

  /// "host:12:34 [0] NCCL INFO comm 0x5 rank 3 nranks 32 cudaDev 3": tells ranks and nodes where no devices
  /// are listed.
  void read_nccl_info(std::string_view line) {
    const auto count = integer_behind(line, " nranks ");
    if (!count || *count < 1 || *count > kMostSampleGpus) return;
    info_ranks_ = static_cast<int>(*count);
    info_hosts_.insert(std::string(line.substr(0, std::min(line.find(':'), std::size_t{80}))));
  }

  void read_versions(std::string_view line) {
    if (const std::string_view said = text_behind(line, "NCCL version "); !said.empty())
      set_version(said.substr(0, said.find_first_of(" +")), said);
    if (const auto code = integer_behind(line, "nccl-library=")) set_version(nccl_version_of_code(*code), "");
    algorithm_ = forced(line, "NCCL_ALGO", algorithm_);
    protocol_ = forced(line, "NCCL_PROTO", protocol_);
  }

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

  /// NCCL_ALGO=Ring, or "NCCL_ALGO set by environment to Ring": one value, in lower case; lists leave the
  /// choice open.
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

  const SourceText& source_;
  const LogHints& hints_;
  SampleSheet& sheet_;
  NcclTable table_;
  NcclLayout layout_;
  NcclDevices devices_;
  std::set<std::int64_t> listed_;
  int info_ranks_ = 0;
  std::set<std::string> info_hosts_;
  std::string named_, mentioned_, version_, algorithm_, protocol_;
  int iterations_ = 1, threads_ = 1;
  bool is_open_ = false, goes_on_ = true;
};

}  // namespace

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

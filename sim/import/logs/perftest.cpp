// Reader of perftest (ib_write_bw, ib_send_lat and others): a title such as "RDMA_Write BW Test", facts in
// two columns, the header " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
// then one line for each size.
// Its MB/sec are of 2^20 bytes and its Gb/sec of 10^9 bits. Average bandwidths and typical latencies are
// taken.
#include <algorithm>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// The test that is being read, by its title and facts.
struct PerftestTool {
  /// Operation: "write", "read" or "send".
  std::string verb;
  bool is_latency = false, both_ways = false;
  /// Kind of link, such as "IB", name of the adapter, and "device" for buffers on the GPU.
  std::string link, device, memory;
  /// Queue pairs that send at the same time.
  std::int64_t pairs = 1;
  /// InfiniBand's local identifiers (LID) of both ends.
  std::string local_id, remote_id;
};

/// The columns by the last header.
struct Columns {
  /// GB of 10^9 bytes in one unit of bandwidth; 0 when the unit is unknown.
  double gigabytes = 0;
  bool is_latency = false;
  bool has_deviation = false;
  bool is_open = false;
};

/// Returns the operation that a line names; empty when it names none.
std::string verb_in(std::string_view line) {
  if (holds(line, "RDMA_Write")) return "write";
  if (holds(line, "RDMA_Read")) return "read";
  return holds(line, "Send ") ? "send" : "";
}

/// Returns the word behind the colon, as in "Device         : mlx5_0".
std::string word_behind(std::string_view line, std::string_view key) {
  std::string_view rest = text_behind(line, key);
  if (!rest.starts_with(':')) return "";
  const Words words = words_of(rest.substr(1), 1);
  return words.empty() ? "" : std::string(words[0].substr(0, 60));
}

/// Reads one log, which may hold several tests.
class PerftestReader {
 public:
  PerftestReader(const SourceText& source, SampleSheet& sheet) : source_(source), sheet_(sheet) {}

  void read() {
    LogLine line;
    for (LogLines lines(source_.text); lines.next(line) && goes_on_;) {
      const Words words = words_of(line.text);
      if (holds(line.text, "#bytes") && holds(line.text, "#iterations")) {
        read_header(line.text);
      } else if (columns_.is_open && words.size() >= 2 && integer_of(words[0]) && integer_of(words[1])) {
        read_row(words, line.number);
      } else if (!words.empty()) {
        read_text(line.text);
      }
    }
  }

 private:
  /// Reads the header of a table.
  void read_header(std::string_view line) {
    columns_ = {0, holds(line, "[usec]"), holds(line, "t_stdev"), true};
    if (holds(line, "Gb/sec")) columns_.gigabytes = 0.125;
    if (holds(line, "MB/sec")) columns_.gigabytes = 1048576e-9;
  }

  /// Reads a line that is no row: a title begins a test, other lines give facts.
  void read_text(std::string_view line) {
    const bool is_title =
        (holds(line, "BW Test") || holds(line, "Latency Test") || holds(line, "Bidirectional")) &&
        !verb_in(line).empty();
    if (is_title && columns_.is_open) test_ = {}, columns_ = {};
    if (is_title)
      test_.verb = verb_in(line), test_.is_latency = holds(line, "Latency"),
      test_.both_ways = holds(line, "Bidirectional");
    const auto keep = [&](std::string& fact, std::string_view key) {
      if (std::string word = word_behind(line, key); !word.empty()) fact = std::move(word);
    };
    keep(test_.link, "Link type       "), keep(test_.device, "Device         ");
    if (const auto pairs = integer_of(word_behind(line, "Number of qps   ")))
      test_.pairs = std::clamp<std::int64_t>(*pairs, 1, 1'000'000);
    const Words id = words_of(text_behind(line, " LID "), 1);
    if (holds(line, "local address:") && !id.empty()) test_.local_id = id[0];
    if (holds(line, "remote address:") && !id.empty()) test_.remote_id = id[0];
    if (holds(line, "CUDA device") || holds(line, "--use_cuda") || holds(line, "initializing CUDA"))
      test_.memory = "device";
  }

  /// Reads a row. Bandwidth has size, iterations, peak and average; latency has size, iterations, minimum,
  /// maximum, typical, average and deviation.
  void read_row(const Words& words, int line) {
    goes_on_ = sheet_.count_row();
    const std::size_t at = columns_.is_latency ? 4 : 3;
    if (words.size() <= at) return sheet_.skip(line, "the line ends early");
    const auto value = number_of(words[at]);
    if (!value) return sheet_.skip(line, why_no_number(words[at]));
    if (!columns_.is_latency && columns_.gigabytes == 0)
      return sheet_.skip(line, "the header names no known unit");
    Sample sample;
    sample.kind = SampleKind::network, sample.bytes = *integer_of(words[0]), sample.line = line,
    sample.source = source_.name;
    sample.repeats = static_cast<int>(std::clamp<std::int64_t>(*integer_of(words[1]), 1, 1'000'000'000));
    sample.nodes = sample.gpus = is_loopback() ? 1 : 2;
    sample.what = columns_.is_latency ? "latency" : test_.verb.empty() ? "send" : test_.verb;
    sample.unit = columns_.is_latency ? SampleUnit::us : SampleUnit::gigabytes_per_s;
    sample.value = columns_.is_latency ? *value : *value * columns_.gigabytes;
    if (columns_.has_deviation && words.size() > 6 && number_of(words[6]).value_or(-1) >= 0 && *value > 0)
      sample.spread = *number_of(words[6]) / *value;
    sample.settings = settings();
    sheet_.add(std::move(sample));
  }

  /// Returns the settings that hold for all rows of the test.
  Settings settings() const {
    Settings settings;
    if (columns_.is_latency && !test_.verb.empty()) settings.emplace_back("verb", test_.verb);
    if (test_.both_ways) settings.emplace_back("both_ways", "1");
    if (test_.pairs > 1) settings.emplace_back("together", std::to_string(test_.pairs));
    if (!test_.memory.empty()) settings.emplace_back("memory", test_.memory);
    if (!test_.link.empty()) settings.emplace_back("link", test_.link);
    if (!test_.device.empty()) settings.emplace_back("device", test_.device);
    return settings;
  }

  /// Says whether both ends are the same InfiniBand adapter, by their identifiers. RoCE has none, so its ends
  /// count as different nodes.
  bool is_loopback() const {
    const bool has_id =
        !test_.local_id.empty() && test_.local_id.find_first_not_of("0x") != std::string::npos;
    return has_id && test_.local_id == test_.remote_id;
  }

  const SourceText& source_;
  SampleSheet& sheet_;
  PerftestTool test_;
  Columns columns_;
  bool goes_on_ = true;
};

}  // namespace

bool is_perftest(std::string_view text) { return holds(text, "#bytes") && holds(text, "#iterations"); }

void read_perftest(const SourceText& source, const LogHints&, SampleSheet& sheet) {
  PerftestReader(source, sheet).read();
}

}  // namespace foretrain

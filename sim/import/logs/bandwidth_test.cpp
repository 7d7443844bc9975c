// Reader of bandwidthTest of the CUDA samples: tables of the modes quick, range and shmoo, and the lines of
// --csv.
// A table follows " Host to Device Bandwidth, 1 Device(s)", " PINNED Memory Transfers" and "   Transfer Size
// (Bytes)      Bandwidth(MB/s)", and has rows of size and bandwidth.
// Its MB/s are of 2^20 bytes and its GB/s of 10^9. Copies inside a GPU count the bytes read and the bytes
// written.
#include <algorithm>
#include <optional>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// The table that is being read: direction, kind of host memory, number of GPUs that copy at once.
struct Table {
  std::string what;
  std::string memory = "pinned";
  int gpus = 1;
  /// GB of 10^9 bytes in one unit of the figures; 0 outside of a table.
  double gigabytes = 0;
};

/// Returns the direction that a line names: "h2d", "d2h" or "d2d"; empty when it names none.
std::string copy_in(std::string_view line) {
  if (holds(line, "Host to Device") || holds(line, "-H2D")) return "h2d";
  if (holds(line, "Device to Host") || holds(line, "-D2H")) return "d2h";
  return holds(line, "Device to Device") || holds(line, "-D2D") ? "d2d" : "";
}

/// Returns the GB of the unit that a line names; 0 when it names none.
double gigabytes_of(std::string_view line) {
  if (holds(line, "GB/s")) return 1;
  return holds(line, "MB/s") ? 1048576e-9 : 0;
}

/// Reads one log.
class BandwidthReader {
 public:
  BandwidthReader(const SourceText& source, SampleSheet& sheet) : source_(source), sheet_(sheet) {}

  void read() {
    LogLine line;
    for (LogLines lines(source_.text); lines.next(line) && goes_on_;) {
      const Words words = words_of(line.text);
      if (holds(line.text, "bandwidthTest-") && holds(line.text, "Bandwidth =")) {
        read_csv(line);
      } else if (table_.gigabytes > 0 && !words.empty() && integer_of(words[0])) {
        read_row(words, line.number);
      } else {
        read_text(trimmed(line.text));
      }
    }
  }

 private:
  /// Reads a line that is no row. Any line but the head of the columns ends the table.
  void read_text(std::string_view line) {
    if (!holds(line, "Transfer Size")) table_.gigabytes = 0;
    if (holds(line, "Bandwidth,") && !copy_in(line).empty()) {
      table_ = {copy_in(line), "pinned",
                static_cast<int>(
                    std::clamp<std::int64_t>(integer_behind(line, "Bandwidth,").value_or(1), 1, 10'000)),
                0};
    } else if (holds(line, "Memory Transfers")) {
      table_.memory = holds(line, "PAGEABLE") ? "pageable" : "pinned";
    } else if (holds(line, "Transfer Size (Bytes)") && !table_.what.empty()) {
      table_.gigabytes = gigabytes_of(line);
    } else if (line.starts_with("Device 0:")) {
      sheet_.state("gpu", std::string(text_behind(line, ":")));
    }
  }

  /// Reads a row of a table: size in bytes and bandwidth.
  void read_row(const Words& words, int line) {
    goes_on_ = sheet_.count_row();
    if (words.size() < 2) return sheet_.skip(line, "the line ends early");
    const auto value = number_of(words[1]);
    if (!value || words.size() > 2)
      return sheet_.skip(line, value ? "more than a size and a bandwidth" : why_no_number(words[1]));
    add(table_, *integer_of(words[0]), *value * table_.gigabytes, line);
  }

  /// Reads a line of --csv:
  /// "bandwidthTest-H2D-Pinned, Bandwidth = 12.2 GB/s, Time = 0.0026 s, Size = 32000000 bytes, NumDevsUsed =
  /// 1".
  void read_csv(const LogLine& line) {
    goes_on_ = sheet_.count_row();
    const std::string_view text = line.text;
    const Words words = words_of(text_behind(text, "Bandwidth ="));
    const auto value = words.empty() ? std::optional<double>() : number_of(words[0]);
    const auto size = integer_behind(text, "Size =");
    if (!value) return sheet_.skip(line.number, why_no_number(words.empty() ? std::string_view{} : words[0]));
    if (!size || words.size() < 2) return sheet_.skip(line.number, "the line ends early");
    Table table{copy_in(text), holds(text, "-Paged") || holds(text, "-Pageable") ? "pageable" : "pinned", 1,
                gigabytes_of(words[1])};
    table.gpus = static_cast<int>(
        std::clamp<std::int64_t>(integer_behind(text, "NumDevsUsed =").value_or(1), 1, 10'000));
    if (table.what.empty() || table.gigabytes == 0)
      return sheet_.skip(line.number, "neither direction nor unit are known ones");
    add(table, *size, *value * table.gigabytes, line.number);
  }

  /// Adds a sample of a copy.
  void add(const Table& table, std::int64_t bytes, double value, int line) {
    Sample sample;
    sample.kind = SampleKind::copy, sample.what = table.what, sample.gpus = table.gpus, sample.bytes = bytes;
    sample.value = value, sample.unit = SampleUnit::gigabytes_per_s, sample.source = source_.name,
    sample.line = line;
    if (table.what != "d2d") sample.settings.emplace_back("memory", table.memory);
    if (table.gpus > 1) sample.settings.emplace_back("together", std::to_string(table.gpus));
    sheet_.add(std::move(sample));
  }

  const SourceText& source_;
  SampleSheet& sheet_;
  Table table_;
  bool goes_on_ = true;
};

}  // namespace

bool is_bandwidth_test(std::string_view text) {
  const bool has_table = holds(text, "Transfer Size (Bytes)") && holds(text, "Memory Transfers");
  return has_table || (holds(text, "bandwidthTest-") && holds(text, "Bandwidth ="));
}

void read_bandwidth_test(const SourceText& source, const LogHints&, SampleSheet& sheet) {
  BandwidthReader(source, sheet).read();
}

}  // namespace foretrain

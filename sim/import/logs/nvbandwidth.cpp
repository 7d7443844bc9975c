// Reader of nvbandwidth as text: "Running device_to_device_memcpy_read_ce.", a description such as "memcpy CE
// GPU(row) -> GPU(column) bandwidth (GB/s)", the numbers of the columns, then a row of figures for each CPU
// or GPU.
// Every cell becomes a sample; sums below the matrices are ignored. Versions of driver and CUDA are taken as
// facts.
#include <algorithm>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/nvbandwidth_test.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// Limit of columns.
constexpr std::size_t kWidestMatrix = 2000;

/// Says whether the words are 0, 1, 2, …, the line above a matrix.
bool is_counting(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (integer_of(words[i]) != static_cast<std::int64_t>(i)) return false;
  }
  return !words.empty();
}

/// Reads one log, which may hold many tests with one or more matrices each.
class NvbandwidthReader {
 public:
  NvbandwidthReader(const SourceText& source, SampleSheet& sheet) : source_(source), sheet_(sheet) {}

  void read() {
    LogLine line;
    for (LogLines lines(source_.text); lines.next(line) && goes_on_;) {
      const std::string_view text = trimmed(line.text);
      if (text.starts_with("Running ")) {
        begin_test(text.substr(8));
      } else if (matrix_.columns > 0) {
        read_row(words_of(text, kWidestMatrix), line.number);
      } else if (!matrix_.test.empty() && !matrix_.description.empty() &&
                 is_counting(words_of(text, kWidestMatrix))) {
        matrix_.columns = static_cast<int>(words_of(text, kWidestMatrix).size());
      } else {
        read_text(text);
      }
    }
  }

 private:
  /// Begins a test at the line that names it.
  void begin_test(std::string_view name) {
    matrix_ = {};
    matrix_.test = name.substr(0, std::min(name.find_first_of(". "), std::size_t{80}));
  }

  /// Reads a row of a matrix. A line that does not begin with a number ends the matrix.
  void read_row(const Words& words, int line) {
    if (words.empty() || !integer_of(words[0])) return end_matrix();
    goes_on_ = sheet_.count_row();
    const int row = static_cast<int>(std::clamp<std::int64_t>(*integer_of(words[0]), 0, 1'000'000));
    for (std::size_t i = 1; i < words.size() && i <= static_cast<std::size_t>(matrix_.columns); ++i)
      add_cell(matrix_, row, static_cast<int>(i) - 1, words[i], line, source_.name, sheet_);
    if (words.size() != static_cast<std::size_t>(matrix_.columns) + 1)
      sheet_.skip(line, words.size() <= static_cast<std::size_t>(matrix_.columns)
                            ? "the line ends early"
                            : "more figures than columns");
  }

  /// Returns the test that a description belongs to, where the line that names it was cut away; empty when it
  /// cannot be told.
  static std::string test_described(std::string_view text) {
    if (!holds(text, "memcpy") || holds(text, "<->")) return "";
    const std::string engine = holds(text, "SM") ? "sm" : "ce";
    if (holds(text, "CPU(row)"))
      return (holds(text, "->") ? "host_to_device_memcpy_" : "device_to_host_memcpy_") + engine;
    return holds(text, "GPU(row)") ? "device_to_device_memcpy_" + engine : "";
  }

  /// Ends a matrix; the same test may print another one.
  void end_matrix() { matrix_.description.clear(), matrix_.columns = 0; }

  /// Reads a line between the matrices: a description, or a fact.
  void read_text(std::string_view text) {
    const bool describes = holds(text, "(row)") || holds(text, "(column)");
    if (describes && (holds(text, "(GB/s)") || holds(text, "(ns)") || holds(text, "(us)"))) {
      matrix_.description = text.substr(0, 200);
      if (matrix_.test.empty()) matrix_.test = test_described(text);
    }
    if (text.starts_with("Device 0:"))
      sheet_.state("gpu", std::string(trimmed(text.substr(9, text.find(" (") - 9))));
    if (text.starts_with("Driver Version:")) sheet_.state("driver", std::string(text_behind(text, ":")));
    if (text.starts_with("CUDA Runtime Version:")) sheet_.state("cuda", std::string(text_behind(text, ":")));
    if (text.starts_with("nvbandwidth Version:"))
      sheet_.state("nvbandwidth", std::string(text_behind(text, ":")));
  }

  const SourceText& source_;
  SampleSheet& sheet_;
  NvbandwidthMatrix matrix_;
  bool goes_on_ = true;
};

}  // namespace

// The second test finds matrices that were pasted without their heading.
bool is_nvbandwidth(std::string_view text) {
  return holds(text, "nvbandwidth Version") ||
         (holds(text, "Running ") && (holds(text, "_memcpy_") || holds(text, "device_local_copy")) &&
          (holds(text, "(row)") || holds(text, "(column)")));
}

void read_nvbandwidth(const SourceText& source, const LogHints&, SampleSheet& sheet) {
  NvbandwidthReader(source, sheet).read();
}

}  // namespace foretrain

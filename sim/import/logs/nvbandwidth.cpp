// nvbandwidth as text: "Running TEST.", a description, column numbers, then a row of figures for each CPU or
// GPU.
#include <algorithm>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/nvbandwidth_test.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kWidestMatrix = 2000;

bool is_counting(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (integer_of(words[i]) != static_cast<std::int64_t>(i)) return false;
  }
  return !words.empty();
}

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
  void begin_test(std::string_view name) {
    matrix_ = {};
    matrix_.test = name.substr(0, std::min(name.find_first_of(". "), std::size_t{80}));
  }

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

  /// Where the line that names the test was cut away; empty: it cannot be told.
  static std::string test_described(std::string_view text) {
    if (!holds(text, "memcpy") || holds(text, "<->")) return "";
    const std::string engine = holds(text, "SM") ? "sm" : "ce";
    if (holds(text, "CPU(row)"))
      return (holds(text, "->") ? "host_to_device_memcpy_" : "device_to_host_memcpy_") + engine;
    return holds(text, "GPU(row)") ? "device_to_device_memcpy_" + engine : "";
  }

  /// The same test may print another matrix.
  void end_matrix() { matrix_.description.clear(), matrix_.columns = 0; }

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

bool is_nvbandwidth(std::string_view text) {
  return holds(text, "nvbandwidth Version") ||
         (holds(text, "Running ") && (holds(text, "_memcpy_") || holds(text, "device_local_copy")) &&
          (holds(text, "(row)") || holds(text, "(column)")));
}

void read_nvbandwidth(const SourceText& source, const LogHints&, SampleSheet& sheet) {
  NvbandwidthReader(source, sheet).read();
}

}  // namespace foretrain

// The lines of a log without what terminals and launchers add to them, and the words and numbers of a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/ascii.hpp"

namespace foretrain {

/// A line of a log without colours and the prefixes of launchers.
struct LogLine {
  int number = 0;  ///< 1-based, of the line in the file
  /// Without line end, colours, a byte order mark, "[1,0]<stdout>:" of mpirun and "0: " of srun.
  std::string text;
};

/// Walks a text in linear time. A carriage return ends a line too, as progress bars draw their lines over
/// each other.
class LogLines {
 public:
  explicit LogLines(std::string_view text) : rest_(text) {}
  /// False at the end.
  bool next(LogLine& line);

 private:
  std::string_view rest_;
  int number_ = 1;
};

/// What stands between blanks.
using Words = std::vector<std::string_view>;
/// The first `most` words.
Words words_of(std::string_view line, std::size_t most = 80);

bool holds(std::string_view text, std::string_view part);

/// The rest of the line behind a mark, without blanks around it; empty when the mark is not there.
std::string_view text_behind(std::string_view line, std::string_view mark);
/// The number that follows a mark: "iters: 20" or "nGpus 8"; nothing when none does.
std::optional<std::int64_t> integer_behind(std::string_view line, std::string_view mark);

/// The whole word as a number: "1e-7", "nan" and "inf" too; nothing for "12,5" and "N/A".
std::optional<double> number_of(std::string_view word);
std::optional<std::int64_t> integer_of(std::string_view word);

/// What the comments at the top of a text say: "## ranks: 16" → "16"; empty when they do not.
std::string_view comment_fact(std::string_view text, std::string_view key);

/// Why a word is no figure: a decimal comma, a word, a line that ends early.
std::string why_no_number(std::string_view word);

}  // namespace foretrain

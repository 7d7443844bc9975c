// Splits a log into lines without what terminals and launchers add to them, and lines into words and numbers.
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
  /// Number of the line in the file, from 1.
  int number = 0;
  /// Text of the line, without its end, colours, a byte order mark, "[1,0]<stdout>:" of mpirun and "0: " of
  /// srun.
  std::string text;
};

/// Walks over the lines of a text, in linear time. The text must outlive the object.
/// A carriage return also ends a line, because progress bars draw their lines over each other; the number
/// stays the same then.
class LogLines {
 public:
  explicit LogLines(std::string_view text) : rest_(text) {}
  /// Reads the next line. Returns false at the end.
  bool next(LogLine& line);

 private:
  std::string_view rest_;
  int number_ = 1;
};

/// The words of a line, which blanks separate; they point into the line.
using Words = std::vector<std::string_view>;
/// Returns the first `most` words of a line.
Words words_of(std::string_view line, std::size_t most = 80);

/// Says whether a text contains a part.
bool holds(std::string_view text, std::string_view part);

/// Returns the rest of the line behind the first occurrence of a mark, without blanks around it; empty when
/// the mark is not there.
std::string_view text_behind(std::string_view line, std::string_view mark);
/// Returns the whole number that follows a mark, as in "iters: 20" or "nGpus 8" for marks "iters:" and
/// "nGpus"; no value when no digit follows.
std::optional<std::int64_t> integer_behind(std::string_view line, std::string_view mark);

/// Returns the whole word as a number. "1e-7", "nan" and "inf" are numbers; "12,5" and "N/A" are not.
std::optional<double> number_of(std::string_view word);
/// Returns the whole word as an integer; no value for other words and beyond 64 bits.
std::optional<std::int64_t> integer_of(std::string_view word);

/// Returns the value of a key in the comments at the top of a text: "16" for "## ranks: 16"; empty when no
/// comment has the key.
std::string_view comment_fact(std::string_view text, std::string_view key);

/// Returns the reason why a word is no number, for messages: a decimal comma, a word, or a line that ends
/// early.
std::string why_no_number(std::string_view word);

}  // namespace foretrain

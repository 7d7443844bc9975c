// JSON read as it comes in, without a tree: the caller asks for what it expects and skips the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/import/traces/trace_bytes.hpp"

namespace foretrain {

/// The kinds of JSON value.
enum class JsonKind : std::uint8_t { object, array, string, number, word };

/// A number as it was written: the figure, and the same in thousandths without rounding, where 64 bits hold
/// that.
struct JsonNumber {
  double value = 0;
  std::optional<std::int64_t> thousandths;
};

/// Throws InputError with line and column for what is no JSON, deeper than kDeepest, or has a string above
/// kLongestString or a number of more than kLongestNumber signs. Needs memory for one string.
class JsonStream {
 public:
  static constexpr int kDeepest = 64;
  static constexpr std::size_t kLongestString = std::size_t{16} << 20;
  static constexpr std::size_t kLongestNumber = 400;

  explicit JsonStream(TraceBytes& bytes) : bytes_(bytes) {}

  /// What stands next.
  JsonKind kind();
  /// Calls each(key) for every member; it has to read or skip the value. The key is valid until it does.
  template <class Each>
  void object(Each each) {
    open('{');
    for (bool first = true; another('}', first); first = false) each(std::string_view(key()));
  }
  /// Calls each() for every element.
  template <class Each>
  void array(Each each) {
    open('[');
    for (bool first = true; another(']', first); first = false) each();
  }
  /// Valid until the next call.
  const std::string& string();
  JsonNumber number();
  /// true, false, null.
  std::string_view word();
  void skip();
  /// Nothing but blanks is left.
  void finish();

  SourceSpan place() const { return {line_, column_, 1}; }
  [[noreturn]] void refuse(std::string message, std::string hint = "");

 private:
  int peek();  ///< -1 at the end
  int take();
  int behind_blanks();
  void open(char bracket);
  bool another(char closing, bool first);
  const std::string& key();
  void read_string(std::string* into);
  void read_escape(std::string* into);
  std::uint32_t four_digits();
  void put(std::string* into, char c);
  [[noreturn]] void refuse_here(int found, std::string_view wanted);

  TraceBytes& bytes_;
  std::string_view piece_;
  std::size_t at_ = 0, line_begin_ = 0;
  bool has_line_ = true;  ///< the line began in this piece
  bool at_end_ = false;
  int line_ = 1, column_ = 1, depth_ = 0;
  std::string text_, number_, word_;
};

}  // namespace foretrain

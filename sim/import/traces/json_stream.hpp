// Declares a reader of JSON that builds no tree: the caller asks for what it expects, and skips the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/import/traces/trace_bytes.hpp"

namespace foretrain {

/// The kinds of JSON value; a word is true, false or null.
enum class JsonKind : std::uint8_t { object, array, string, number, word };

/// A number as it was written: its value, and the same in thousandths without rounding, where 64 bits hold
/// that.
struct JsonNumber {
  double value = 0;
  std::optional<std::int64_t> thousandths;
};

/// Reads JSON as it comes in. Memory is needed for one string and one piece of the file. Throws InputError
/// with line and column for what is no JSON, nests deeper than kDeepest, or has a string above kLongestString
/// or a number of more than kLongestNumber characters. `bytes` must outlive the object.
class JsonStream {
 public:
  // Limits: levels of nesting, bytes of a string, and characters of a number.
  static constexpr int kDeepest = 64;
  static constexpr std::size_t kLongestString = std::size_t{16} << 20;
  static constexpr std::size_t kLongestNumber = 400;

  explicit JsonStream(TraceBytes& bytes) : bytes_(bytes) {}

  /// Returns the kind of the next value without taking it.
  JsonKind kind();
  /// Reads an object and calls each(key) for every member. The call has to read or skip the value; the key is
  /// valid until then.
  template <class Each>
  void object(Each each) {
    open('{');
    for (bool first = true; another('}', first); first = false) each(std::string_view(key()));
  }
  /// Reads a list and calls each() for every element, which has to read or skip it.
  template <class Each>
  void array(Each each) {
    open('[');
    for (bool first = true; another(']', first); first = false) each();
  }
  /// Returns a string; it is valid until the next call.
  const std::string& string();
  /// Returns a number; throws for other values.
  JsonNumber number();
  /// Returns true, false, null, NaN or Infinity.
  std::string_view word();
  /// Passes over one value of any kind.
  void skip();
  /// Throws unless nothing but white space is left.
  void finish();

  /// Returns line and column of the next byte, from 1.
  SourceSpan place() const { return {line_, column_, 1}; }
  /// Throws InputError at this place.
  [[noreturn]] void refuse(std::string message, std::string hint = "");

 private:
  /// Returns the next byte, -1 at the end.
  int peek();
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
  /// The current line begins in this piece.
  bool has_line_ = true;
  bool at_end_ = false;
  int line_ = 1, column_ = 1, depth_ = 0;
  std::string text_, number_, word_;
};

}  // namespace foretrain

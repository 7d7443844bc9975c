// Parser of formulas: recursive descent over sums of products. The depth is bounded by the length of the
// text, which the reader of layers bounds. Overflow and division by zero make the value invalid and leave the
// syntax valid.
#include "sim/scenario/layers/parameter_arithmetic.hpp"

#include <charconv>

namespace foretrain {

namespace {

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The state of parsing: whether the text so far is well formed, and whether it has a value.
class FormulaReading {
 public:
  FormulaReading(std::string_view text, const ParameterValue& value_of) : text_(text), value_of_(value_of) {}

  /// Reads the whole text.
  void run() {
    value_ = sum();
    skip_blanks();
    well_formed_ = well_formed_ && at_ == text_.size();
  }
  // Returns whether the syntax is valid, and whether a parameter occurs.
  bool well_formed() const { return well_formed_; }
  bool has_parameter() const { return has_parameter_; }
  std::optional<std::int64_t> value() const {
    return well_formed_ && has_value_ ? std::optional(value_) : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  /// Takes one of these characters and returns it, or 0 if the next one is another.
  char take(std::string_view marks) {
    skip_blanks();
    if (at_ == text_.size() || marks.find(text_[at_]) == std::string_view::npos) return 0;
    return text_[at_++];
  }

  // sum = product { ("+" | "-") product }
  std::int64_t sum() {
    std::int64_t left = product();
    while (const char mark = take("+-")) {
      const std::int64_t right = product();
      const bool lost = mark == '+' ? __builtin_add_overflow(left, right, &left)
                                    : __builtin_sub_overflow(left, right, &left);
      has_value_ = has_value_ && !lost;
    }
    return left;
  }

  // product = term { ("*" | "/") term }
  std::int64_t product() {
    std::int64_t left = term();
    while (const char mark = take("*/")) {
      const std::int64_t right = term();
      if (mark == '*')
        has_value_ = !__builtin_mul_overflow(left, right, &left) && has_value_;
      else
        left = divided(left, right);
    }
    return left;
  }

  /// Divides and rounds down, also below zero.
  std::int64_t divided(std::int64_t left, std::int64_t right) {
    // Negative divisors are refused, so that rounding down is simple.
    if (right <= 0) return has_value_ = false, 0;
    return left / right - (left % right < 0 ? 1 : 0);
  }

  // term = "(" sum ")" | "$" name | digits
  std::int64_t term() {
    if (take("(") != 0) {
      const std::int64_t inner = sum();
      well_formed_ = take(")") != 0 && well_formed_;
      return inner;
    }
    const bool is_parameter = take("$") != 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name_letter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word.empty()) return well_formed_ = false, 0;
    if (!is_parameter) return number(word);
    has_parameter_ = true;
    return value_of_(word);
  }

  std::int64_t number(std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    well_formed_ = well_formed_ && end == digits.data() + digits.size() && problem == std::errc();
    return value;
  }

  std::string_view text_;
  const ParameterValue& value_of_;
  std::size_t at_ = 0;
  std::int64_t value_ = 0;
  bool well_formed_ = true, has_value_ = true, has_parameter_ = false;
};

}  // namespace

/// Every parameter counts as 1, because only the syntax matters here.
bool is_arithmetic(std::string_view text) {
  const ParameterValue one = [](std::string_view) { return std::int64_t{1}; };
  FormulaReading reading(text, one);
  reading.run();
  return reading.well_formed() && reading.has_parameter();
}

std::optional<std::int64_t> arithmetic_value(std::string_view text, const ParameterValue& value_of) {
  FormulaReading reading(text, value_of);
  reading.run();
  return reading.value();
}

}  // namespace foretrain

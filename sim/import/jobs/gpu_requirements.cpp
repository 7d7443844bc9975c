// A recursive descent over "||", "&&", "!", comparisons and parentheses, with three truth values: true, false
// and unknown.
// Unknown parts matter only where they can change the result, so "unknown
// true" is true.
#include "sim/import/jobs/gpu_requirements.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include "sim/base/ascii.hpp"
#include "sim/import/machines/pci_devices.hpp"

namespace foretrain {

namespace {

/// A truth value; no value stands for unknown.
using Truth = std::optional<bool>;
/// Limit of nested parentheses and negations.
constexpr int kDeepestExpression = 64;

/// Evaluates one expression for one GPU. Every function reads from at_ on and moves it behind what it has
/// read.
class Expression {
 public:
  Expression(const Gpu& gpu, std::string_view text) : gpu_(gpu), text_(text) {}

  /// Evaluates the whole text. Text behind the expression makes the result unknown.
  Truth evaluate() {
    const Truth value = either(0);
    skip_blanks();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  /// Takes a sign if the text goes on with it.
  bool take(std::string_view sign) {
    skip_blanks();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }

  /// These combine two truth values by "and" and by "or".
  static Truth both(Truth a, Truth b) {
    return a == false || b == false ? Truth(false) : a && b ? Truth(true) : std::nullopt;
  }
  static Truth any(Truth a, Truth b) {
    return a == true || b == true ? Truth(true) : a && b ? Truth(false) : std::nullopt;
  }

  /// Reads terms joined by "||".
  Truth either(int depth) {
    Truth value = all(depth);
    while (take("||")) value = any(value, all(depth));
    return value;
  }

  /// Reads terms joined by "&&".
  Truth all(int depth) {
    Truth value = one(depth);
    while (take("&&")) value = both(value, one(depth));
    return value;
  }

  /// Reads a negation, a term in parentheses or a comparison.
  Truth one(int depth) {
    if (depth > kDeepestExpression) return at_ = text_.size(), std::nullopt;
    skip_blanks();
    if (text_.substr(at_, 2) != "!=" && take("!")) {
      const Truth value = one(depth + 1);
      return value ? Truth(!*value) : std::nullopt;
    }
    if (take("(")) {
      const Truth value = either(depth + 1);
      take(")");
      return value;
    }
    return comparison();
  }

  /// Reads an operand: a name, a number, a text in quotes, or a call of a function with all its arguments.
  std::string operand() {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1;
      return std::string(text_.substr(begin, at_ - begin));
    }
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    if (at_ < text_.size() && text_[at_] == '(' && at_ > begin)
      at_ = std::min(text_.find(')', at_), text_.size() - 1) + 1;
    if (at_ == begin && at_ < text_.size()) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  /// Reads a comparison. The known attribute may stand on either side, so sides and sign are swapped if
  /// needed.
  /// A name alone is unknown, but for regexp().
  Truth comparison() {
    // Longer signs stand before those that they begin with.
    static constexpr std::array<std::string_view, 8> kSigns{"=?=", "==", "!=", ">=", "<=", ">", "<", "=!="};
    std::string left = operand();
    std::string_view sign;
    for (const std::string_view candidate : kSigns) {
      if (sign.empty() && take(candidate)) sign = candidate;
    }
    if (sign.empty()) return lower_case(left).starts_with("regexp(") ? matches(left) : std::nullopt;
    std::string right = operand();
    if (!value_of(left) && value_of(right)) {
      std::swap(left, right);
      sign = sign == ">=" ? "<=" : sign == "<=" ? ">=" : sign == ">" ? "<" : sign == "<" ? ">" : sign;
    }
    if (attribute(left) == "devicename" && right.starts_with('"')) {
      const bool same = is_product(gpu_, right);
      return sign == "==" || sign == "=?=" ? Truth(same) : Truth(!same);
    }
    const auto value = value_of(left), limit = number(right);
    return value && limit ? compare(sign, *value, *limit) : std::nullopt;
  }

  /// Evaluates regexp("H200", TARGET.CUDADeviceName). Patterns are taken as plain words.
  Truth matches(std::string_view call) const {
    const std::size_t open = call.find('"'), close = call.find('"', open + 1);
    if (lower_case(call).find("devicename") == std::string::npos || close == std::string_view::npos)
      return std::nullopt;
    return is_product(gpu_, call.substr(open + 1, close - open - 1));
  }

  /// Compares two numbers; differences below 10^-6 count as equal.
  static Truth compare(std::string_view sign, double a, double b) {
    constexpr double kSame = 1e-6;
    if (sign == "==" || sign == "=?=") return std::abs(a - b) < kSame;
    if (sign == "!=" || sign == "=!=") return std::abs(a - b) >= kSame;
    if (sign == ">=") return a > b - kSame;
    if (sign == "<=") return a < b + kSame;
    return sign == ">" ? a > b + kSame : a < b - kSame;
  }

  /// Returns the number that the whole text is; no value for other texts.
  static std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc{} && end == text.data() + text.size() ? std::optional<double>(value)
                                                                      : std::nullopt;
  }

  /// Returns the name of an attribute in lower case, without "TARGET." and "CUDA" before it.
  static std::string attribute(std::string_view text) {
    std::string name = lower_case(text);
    for (const std::string_view before : {"target.", "cuda"}) {
      if (name.starts_with(before)) name.erase(0, before.size());
    }
    return name;
  }

  /// Returns the GPU's value of an attribute; no value for unknown ones.
  std::optional<double> value_of(std::string_view text) const {
    const std::string name = attribute(text);
    if (name == "capability") return gpu_.compute_capability;
    if (name == "globalmemorymb") return static_cast<double>(gpu_.capacity().count) / (1 << 20);
    return std::nullopt;
  }

  const Gpu& gpu_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<bool> satisfies(const Gpu& gpu, std::string_view expression) {
  return Expression(gpu, expression).evaluate();
}

}  // namespace foretrain

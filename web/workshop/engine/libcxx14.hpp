// What the standard library of emscripten 3.1.6 (libc++ 14) lacks of C++20, in as far as the simulator uses
// it: algorithms over ranges with projections, bit_cast, from_chars of a double. Included before everything
// else when the compiler is emscripten's (cmake/wasm.cmake); with a later libc++ it goes.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// The longest beginning that is a number of at most 400 characters, without blanks or a plus before it.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const char* digits = first != last && *first == '-' ? first + 1 : first;
  const bool starts_well = digits != last && (isdigit(static_cast<unsigned char>(*digits)) ||
                                              *digits == '.' || *digits == 'i' || *digits == 'n');
  if (!starts_well || (last - digits > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))) {
    if (!starts_well) return {first, errc::invalid_argument};
    value = digits == first ? 0.0 : -0.0;
    return {digits + 1, errc{}};
  }
  const string text(first, min<ptrdiff_t>(last - first, 400));
  char* end = nullptr;
  const double parsed = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const char* behind = first + (end - text.c_str());
  const bool is_word = !isdigit(static_cast<unsigned char>(*digits)) && *digits != '.';
  if (!is_word && (parsed == HUGE_VAL || parsed == -HUGE_VAL)) return {behind, errc::result_out_of_range};
  value = parsed;
  return {behind, errc{}};
}

/// Without an exponent.
inline from_chars_result from_chars(const char* first, const char* last, double& value, chars_format format) {
  const char* end = format == chars_format::fixed
                        ? find_if(first, last, [](char c) { return c == 'e' || c == 'E'; })
                        : last;
  return from_chars(first, end, value);
}

// Comparisons of which defaulted ones are made.

template <class T>
constexpr auto operator<=>(const vector<T>& a, const vector<T>& b) -> strong_ordering {
  if (lexicographical_compare(a.begin(), a.end(), b.begin(), b.end())) return strong_ordering::less;
  return a == b ? strong_ordering::equal : strong_ordering::greater;
}
template <class A, class B>
constexpr auto operator<=>(const pair<A, B>& a, const pair<A, B>& b) -> strong_ordering {
  return a < b ? strong_ordering::less : b < a ? strong_ordering::greater : strong_ordering::equal;
}
template <class T, size_t N>
constexpr auto operator<=>(const array<T, N>& a, const array<T, N>& b) -> strong_ordering {
  return a < b ? strong_ordering::less : b < a ? strong_ordering::greater : strong_ordering::equal;
}
namespace chrono {
template <class Rep, class Period>
constexpr auto operator<=>(const duration<Rep, Period>& a, const duration<Rep, Period>& b)
    -> strong_ordering {
  return a.count() <=> b.count();
}
}  // namespace chrono
inline auto operator<=>(const string& a, const string& b) -> strong_ordering { return a.compare(b) <=> 0; }
inline auto operator<=>(string_view a, string_view b) -> strong_ordering { return a.compare(b) <=> 0; }

namespace ranges {

/// A comparison through a projection.
template <class Compare, class Projection>
auto projected_order(Compare& compare, Projection& projection) {
  return [&](auto&& a, auto&& b) -> bool {
    return std::invoke(compare, std::invoke(projection, a), std::invoke(projection, b));
  };
}
struct SameValue {
  template <class T>
  T&& operator()(T&& value) const {
    return std::forward<T>(value);
  }
};
struct Ascending {
  template <class A, class B>
  bool operator()(A&& a, B&& b) const {
    return a < b;
  }
};
template <class It>
concept Place = !is_array_v<It> && requires(It it) {
  *it;
  ++it;
};

// An algorithm that asks each element, over a range and over two places.
#define FORETRAIN_ASKING(name)                                                              \
  template <class Range, class Ask, class Projection = SameValue>                           \
  requires(!Place<remove_cvref_t<Range>>) constexpr auto name(Range&& range, Ask ask,       \
                                                              Projection projection = {}) { \
    return std::name(std::begin(range), std::end(range), [&](auto&& value) -> bool {        \
      return std::invoke(ask, std::invoke(projection, value));                              \
    });                                                                                     \
  }                                                                                         \
  template <Place It, std::same_as<It> End, class Ask, class Projection = SameValue>        \
  constexpr auto name(It first, End last, Ask ask, Projection projection = {}) {            \
    return std::name(first, It(last), [&](auto&& value) -> bool {                           \
      return std::invoke(ask, std::invoke(projection, value));                              \
    });                                                                                     \
  }
FORETRAIN_ASKING(find_if)
FORETRAIN_ASKING(any_of)
FORETRAIN_ASKING(all_of)
FORETRAIN_ASKING(none_of)
FORETRAIN_ASKING(count_if)
#undef FORETRAIN_ASKING

template <class Range, class Value, class Projection = SameValue>
requires(!Place<remove_cvref_t<Range>>) constexpr auto find(Range&& range, const Value& value,
                                                            Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](auto&& one) -> bool { return std::invoke(projection, one) == value; });
}
template <Place It, class Value, class Projection = SameValue>
constexpr auto find(It first, It last, const Value& value, Projection projection = {}) {
  return std::find_if(first, last, [&](auto&& one) -> bool { return std::invoke(projection, one) == value; });
}
template <class Range, class Value, class Projection = SameValue>
constexpr auto count(Range&& range, const Value& value, Projection projection = {}) {
  return std::count_if(std::begin(range), std::end(range),
                       [&](auto&& one) -> bool { return std::invoke(projection, one) == value; });
}

// An algorithm that orders a range.
#define FORETRAIN_ORDERING(name)                                                                     \
  template <class Range, class Compare = Ascending, class Projection = SameValue>                    \
  requires(!Place<remove_cvref_t<Range>>) constexpr auto name(Range&& range, Compare compare = {},   \
                                                              Projection projection = {}) {          \
    return std::name(std::begin(range), std::end(range), projected_order(compare, projection));      \
  }                                                                                                  \
  template <Place It, std::same_as<It> End, class Compare = Ascending, class Projection = SameValue> \
  constexpr auto name(It first, End last, Compare compare = {}, Projection projection = {}) {        \
    return std::name(first, last, projected_order(compare, projection));                             \
  }
FORETRAIN_ORDERING(sort)
FORETRAIN_ORDERING(stable_sort)
FORETRAIN_ORDERING(max_element)
FORETRAIN_ORDERING(min_element)
FORETRAIN_ORDERING(minmax_element)
FORETRAIN_ORDERING(is_sorted)
#undef FORETRAIN_ORDERING

template <class Range, class It, class Compare = Ascending, class Projection = SameValue>
requires(!Place<remove_cvref_t<Range>>) constexpr auto nth_element(Range&& range, It nth,
                                                                   Compare compare = {},
                                                                   Projection projection = {}) {
  std::nth_element(std::begin(range), nth, std::end(range), projected_order(compare, projection));
  return std::end(range);
}

template <class Range, class Value, class Compare = Ascending, class Projection = SameValue>
constexpr auto lower_bound(Range&& range, const Value& value, Compare compare = {},
                           Projection projection = {}) {
  return std::lower_bound(std::begin(range), std::end(range), value, [&](auto&& one, auto&& wanted) -> bool {
    return std::invoke(compare, std::invoke(projection, one), wanted);
  });
}
template <class Range, class Value, class Compare = Ascending, class Projection = SameValue>
constexpr auto upper_bound(Range&& range, const Value& value, Compare compare = {},
                           Projection projection = {}) {
  return std::upper_bound(std::begin(range), std::end(range), value, [&](auto&& wanted, auto&& one) -> bool {
    return std::invoke(compare, wanted, std::invoke(projection, one));
  });
}
template <class Range, class Value, class Compare = Ascending, class Projection = SameValue>
constexpr bool binary_search(Range&& range, const Value& value, Compare compare = {},
                             Projection projection = {}) {
  const auto found = ranges::lower_bound(range, value, compare, projection);
  return found != std::end(range) && !std::invoke(compare, value, std::invoke(projection, *found));
}

template <class Range>
struct ExtremesOf {
  Range min, max;
};
template <class Range, class Compare = Ascending, class Projection = SameValue>
constexpr auto max(Range&& range, Compare compare = {}, Projection projection = {}) {
  return *ranges::max_element(range, compare, projection);
}
template <class Range, class Compare = Ascending, class Projection = SameValue>
constexpr auto min(Range&& range, Compare compare = {}, Projection projection = {}) {
  return *ranges::min_element(range, compare, projection);
}
template <class Range>
constexpr auto minmax(Range&& range) {
  const auto found = std::minmax_element(std::begin(range), std::end(range));
  return ExtremesOf<remove_cvref_t<decltype(*found.first)>>{*found.first, *found.second};
}

template <class A, class B, class Compare = std::equal_to<>, class ProjectionA = SameValue,
          class ProjectionB = SameValue>
constexpr bool equal(A&& a, B&& b, Compare compare = {}, ProjectionA of_a = {}, ProjectionB of_b = {}) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b), [&](auto&& x, auto&& y) -> bool {
    return std::invoke(compare, std::invoke(of_a, x), std::invoke(of_b, y));
  });
}
template <class Range, class Out>
constexpr auto copy(Range&& range, Out out) {
  return std::copy(std::begin(range), std::end(range), out);
}
template <class Range, class Out>
constexpr auto move(Range&& range, Out out) {
  return std::move(std::begin(range), std::end(range), out);
}
template <class Range, class Out, class Ask, class Projection = SameValue>
constexpr auto copy_if(Range&& range, Out out, Ask ask, Projection projection = {}) {
  return std::copy_if(std::begin(range), std::end(range), out,
                      [&](auto&& value) -> bool { return std::invoke(ask, std::invoke(projection, value)); });
}
template <class Range, class Out, class Make, class Projection = SameValue>
constexpr auto transform(Range&& range, Out out, Make make, Projection projection = {}) {
  return std::transform(std::begin(range), std::end(range), out, [&](auto&& value) -> decltype(auto) {
    return std::invoke(make, std::invoke(projection, value));
  });
}
template <class Range>
constexpr void reverse(Range&& range) {
  std::reverse(std::begin(range), std::end(range));
}
template <class Range, class Value>
constexpr void replace(Range&& range, const Value& from, const Value& to) {
  std::replace(std::begin(range), std::end(range), from, to);
}

}  // namespace ranges
}  // namespace std

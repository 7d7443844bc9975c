// Switches of mutated sources: every site does as its source says, but for the one that $FORETRAIN_MUTANT
// names. An operator becomes two of the same precedence with a switch between them, `a + Sum<17>{} + b`, so
// that no expression has to be parsed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace foretrain::mutant {

inline constexpr int kMostSites = 100'000;

struct Switches {
  int active = -1;
  std::array<unsigned char, kMostSites> reached{};
  Switches() {
    if (const char* named = std::getenv("FORETRAIN_MUTANT")) active = std::atoi(named);
  }
};
inline Switches& switches() {
  static Switches all;
  return all;
}

/// What the compiler computes is never mutated.
constexpr bool on(int site) {
  if (std::is_constant_evaluated()) return false;
  Switches& all = switches();
  all.reached[static_cast<std::size_t>(site)] = 1;
  return all.active == site;
}

// NAME: the switch; OP: what stands in the source; INSTEAD: the mutation.
#define FORETRAIN_MUTANT_OPERATOR(NAME, OP, INSTEAD)                             \
  template <int N>                                                               \
  struct NAME {};                                                                \
  template <int N, class A>                                                      \
  struct NAME##Held {                                                            \
    A&& a;                                                                       \
  };                                                                             \
  template <class A, int N>                                                      \
  constexpr NAME##Held<N, A> operator OP(A&& a, NAME<N>) {                       \
    return {std::forward<A>(a)};                                                 \
  }                                                                              \
  template <int N, class A, class B>                                             \
  requires std::is_same_v<decltype(std::declval<A>() OP std::declval<B>()),      \
                          decltype(std::declval<A>() INSTEAD std::declval<B>())> \
  constexpr auto operator OP(NAME##Held<N, A> held, B&& b) {                     \
    return on(N) ? std::forward<A>(held.a) INSTEAD std::forward<B>(b)            \
                 : std::forward<A>(held.a) OP std::forward<B>(b);                \
  }

FORETRAIN_MUTANT_OPERATOR(Sum, +, -)
FORETRAIN_MUTANT_OPERATOR(Difference, -, +)
FORETRAIN_MUTANT_OPERATOR(Product, *, /)
FORETRAIN_MUTANT_OPERATOR(Quotient, /, *)
FORETRAIN_MUTANT_OPERATOR(Remainder, %, *)
FORETRAIN_MUTANT_OPERATOR(Less, <, <=)
FORETRAIN_MUTANT_OPERATOR(NotLess, <, >=)
FORETRAIN_MUTANT_OPERATOR(More, >, >=)
FORETRAIN_MUTANT_OPERATOR(NotMore, >, <=)
FORETRAIN_MUTANT_OPERATOR(LessOrEqual, <=, <)
FORETRAIN_MUTANT_OPERATOR(MoreOrEqual, >=, >)
FORETRAIN_MUTANT_OPERATOR(Equal, ==, !=)
FORETRAIN_MUTANT_OPERATOR(Unequal, !=, ==)
#undef FORETRAIN_MUTANT_OPERATOR

/// `x && Flip<17>{} ^ y`: the right side the other way round.
template <int N>
struct Flip {};
template <int N, class T>
constexpr bool operator^(Flip<N>, const T& value) {
  return on(N) != static_cast<bool>(value);
}

/// `if (condition<17>(x))`.
template <int N, class T>
constexpr bool condition(const T& value) {
  return on(N) != static_cast<bool>(value);
}

/// One more, or one less.
template <int N, class T>
constexpr T literal(T value) {
  return on(N) ? value + (N % 2 == 0 || value == T{} ? T{1} : T{-1}) : value;
}

/// `x += Negative<17>{} = y`.
template <int N>
struct Negative {
  template <class T>
  constexpr std::decay_t<T> operator=(T&& value) const {
    return on(N) ? static_cast<std::decay_t<T>>(-value) : static_cast<std::decay_t<T>>(value);
  }
};

template <int N, class T>
constexpr const T& min(const T& a, const T& b) {
  return on(N) ? std::max(a, b) : std::min(a, b);
}
template <int N, class T>
constexpr const T& max(const T& a, const T& b) {
  return on(N) ? std::min(a, b) : std::max(a, b);
}
template <int N, class T>
constexpr T min(std::initializer_list<T> all) {
  return on(N) ? std::max(all) : std::min(all);
}
template <int N, class T>
constexpr T max(std::initializer_list<T> all) {
  return on(N) ? std::min(all) : std::max(all);
}

/// `if (kept<17>()) statement;`.
template <int N>
constexpr bool kept() {
  return !on(N);
}

}  // namespace foretrain::mutant

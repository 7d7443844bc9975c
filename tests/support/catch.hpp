// Catch2 of either generation: 2.13 (Debian 12) and 3.x.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif

namespace foretrain::test {
/// The test that runs counts as skipped (outcome.cpp).
void note_skip();
}  // namespace foretrain::test

/// Ends the test with a message that says why it was skipped; ctest shows it as skipped.
#if defined(SKIP)
#define FORETRAIN_SKIP(message) SKIP(message)
#else
#define FORETRAIN_SKIP(message)     \
  do {                              \
    ::foretrain::test::note_skip(); \
    WARN("skipped: " message);      \
    return;                         \
  } while (false)
#endif

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

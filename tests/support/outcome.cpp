// The exit code of a test program under Catch2 2.x: 4 when all tests that ran were skipped, 1 when a check
// failed. By itself it would end with the number of failed checks, which may be 4, and with 0 after a skip.
// Catch2 3 does it right.
#if !__has_include(<catch2/catch_all.hpp>)

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <cstdio>
#include <cstdlib>

#include <catch2/catch.hpp>

namespace foretrain::test {

namespace {

constexpr int kSkippedCode = 4, kFailedCode = 1;

bool is_skipping = false, any_failed = false;
int tests_run = 0, tests_skipped = 0;

/// Runs when main() has ended; the reports are written by then.
void end_with_outcome() {
  const bool all_skipped = tests_run > 0 && tests_skipped == tests_run;
  if (!any_failed && !all_skipped) return;
  std::fflush(nullptr);
  std::_Exit(any_failed ? kFailedCode : kSkippedCode);
}

struct OutcomeListener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseEnded(const Catch::TestCaseStats&) override {
    ++tests_run;
    if (is_skipping) ++tests_skipped;
    is_skipping = false;
  }

  void testRunEnded(const Catch::TestRunStats& run) override {
    any_failed = run.totals.assertions.failed > 0;
    std::atexit(end_with_outcome);
  }
};

CATCH_REGISTER_LISTENER(OutcomeListener)

}  // namespace

void note_skip() { is_skipping = true; }

}  // namespace foretrain::test

#endif

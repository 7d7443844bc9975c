// A test that is skipped shows as skipped in ctest, and one that fails never does, however many checks
// failed.
#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/run_program.hpp"

namespace outcome_test {

using namespace foretrain;

namespace {

/// This program with hidden tests of its own.
test::ProgramRun run_hidden(const std::string& tests) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  return test::run_program("'" + program + "' " + tests, "/", program);
}

}  // namespace

TEST_CASE("hidden: skipped", "[.]") { FORETRAIN_SKIP("there is nothing to test"); }

TEST_CASE("hidden: four checks fail", "[.]") {
  for (int i = 0; i < 4; ++i) CHECK(i > 4);
}

TEST_CASE("hidden: a check fails before the rest is skipped", "[.]") {
  CHECK(std::string("one") == "two");
  FORETRAIN_SKIP("the rest");
}

TEST_CASE("hidden: passes", "[.]") { SUCCEED(); }

TEST_CASE("a skipped test ends with the code that ctest is told, with its reason") {
  const test::ProgramRun run = run_hidden("'hidden: skipped'");
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.output, ContainsSubstring("there is nothing to test"));
}

TEST_CASE("a failed test never ends with the code of a skipped one") {
  for (const char* tests :
       {"'hidden: four checks fail'", "'hidden: a check fails before the rest is skipped'", "'hidden: *'"}) {
    INFO(tests);
    const int code = run_hidden(tests).exit_code;
    CHECK(code != 0);
    CHECK(code != 4);
  }
}

TEST_CASE("a run of several tests is skipped only when all of them are") {
  CHECK(run_hidden("'hidden: passes'").exit_code == 0);
  CHECK(run_hidden("'hidden: passes','hidden: skipped'").exit_code == 0);
}

}  // namespace outcome_test

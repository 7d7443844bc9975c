// What a command prints, held for whoever runs it in his own process.
#include "sim/base/held_output.hpp"

#include <thread>

#include "sim/base/diagnostics.hpp"
#include "sim/base/terminal.hpp"
#include "tests/support/catch.hpp"

namespace held_output_test {

using namespace foretrain;

TEST_CASE("messages are held while an output lives, for its thread alone") {
  CHECK(HeldOutput::current() == nullptr);
  HeldOutput held;
  write_message("one\n");
  std::thread([] {
    CHECK(HeldOutput::current() == nullptr);
    const HeldOutput other;
    write_message("two\n");
    CHECK(other.messages == "two\n");
  }).join();
  CHECK(held.messages == "one\n");
  CHECK(held.output.empty());
}

TEST_CASE("held output has neither colours nor a width, and some commands refuse it") {
  {
    const HeldOutput held;
    CHECK_FALSE(takes_colours(1));
    CHECK(prose_width(1) == 0);
    CHECK_THROWS_AS(need_own_process("foretrain serve"), EnvironmentError);
  }
  CHECK_NOTHROW(need_own_process("foretrain serve"));
}

}  // namespace held_output_test

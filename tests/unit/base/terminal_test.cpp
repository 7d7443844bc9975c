// Colours and broken lines, for terminals alone.
#include "sim/base/terminal.hpp"

#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace terminal_test {

using namespace foretrain;

namespace {

/// The other end of a terminal that nobody sits at; -1 where the system has none to give.
struct Terminal {
  int master = ::posix_openpt(O_RDWR | O_NOCTTY), descriptor = -1;
  Terminal() {
    if (master >= 0 && ::grantpt(master) == 0 && ::unlockpt(master) == 0)
      descriptor = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  }
  ~Terminal() { ::close(descriptor), ::close(master); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
};

}  // namespace

TEST_CASE("errors, warnings and carets are coloured, quoted lines are not") {
  CHECK(coloured("a.toml:1:2: error: no\n  1 | error: x\n    | ^^\n  hint: y\nwarning: z\n") ==
        "a.toml:1:2: \x1b[1;31merror:\x1b[0m no\n  1 | error: x\n    | \x1b[1;32m^^\x1b[0m\n  hint: y\n"
        "\x1b[1;33mwarning:\x1b[0m z\n");
  CHECK(coloured("no end") == "no end");
  CHECK(coloured("").empty());
}

TEST_CASE("prose is broken between words, by characters, and set in, and tables and commands stay") {
  CHECK(wrapped("one two three four\n", 9) == "one two\n  three\n  four\n");
  CHECK(wrapped("äöü äöü äöü\n", 7) == "äöü äöü\n  äöü\n");
  CHECK(wrapped("one two three four\n", 0) == "one two three four\n");
  CHECK(wrapped("a-word-that-is-longer than\n", 9) == "a-word-that-is-longer\n  than\n");
  CHECK(wrapped("        far in below a row\n", 20) == "        far in below\n          a row\n");
  for (const std::string line :
       {"  --nodes=2 --gres=gpu:4\n", "GPUs    step   total\n", "# of nccl-tests: wide\n", "\n"})
    CHECK(wrapped(line, 9) == line);
}

TEST_CASE("a terminal takes colours unless NO_COLOR or its kind says otherwise, a file never") {
  const int file = ::open("/dev/null", O_WRONLY);
  CHECK(!takes_colours(file));
  CHECK(prose_width(file) == 0);
  ::close(file);
  const Terminal terminal;
  if (terminal.descriptor < 0) FORETRAIN_SKIP("no pseudo-terminal here");
  const char* kind = std::getenv("TERM");
  const std::string before = kind == nullptr ? "" : kind;
  ::unsetenv("NO_COLOR"), ::setenv("TERM", "xterm", 1);
  CHECK(takes_colours(terminal.descriptor));
  CHECK(prose_width(terminal.descriptor) == 80);
  ::setenv("NO_COLOR", "1", 1);
  CHECK(!takes_colours(terminal.descriptor));
  ::setenv("NO_COLOR", "", 1);
  CHECK(takes_colours(terminal.descriptor));
  ::setenv("TERM", "dumb", 1);
  CHECK(!takes_colours(terminal.descriptor));
  ::unsetenv("NO_COLOR"), ::setenv("TERM", before.c_str(), 1);
}

}  // namespace terminal_test

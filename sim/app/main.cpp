// The program: the only catch and the only exit codes.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "sim/app/command_line.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/interrupted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/terminal.hpp"

namespace {

constexpr int kWrongInput = 1, kWorldFailed = 3, kInterrupted = 130;

int fail(const std::string& text, int code) {
  std::fflush(stdout);
  const std::string shown = foretrain::printable_lines(text);
  std::fprintf(stderr, "%s",
               foretrain::takes_colours(STDERR_FILENO) ? foretrain::coloured(shown).c_str() : shown.c_str());
  return code;
}

/// A file that is opened takes the lowest free number: without this it would be where a closed standard
/// output was.
void keep_standard_numbers() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/dev/null", O_RDONLY);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

/// Everything that was printed has arrived.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return fail("error: standard output: cannot be written\n", kWorldFailed);
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_numbers();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is a failed write
  try {
    return finish(foretrain::run_command_line(argc, argv));
  } catch (const foretrain::InputError& error) {
    return fail(error.what(), kWrongInput);
  } catch (const foretrain::Interrupted& interrupted) {
    return fail(interrupted.what() + std::string("\n"), kInterrupted);
  } catch (const std::bad_alloc&) {
    return fail("error: out of memory\n", kWorldFailed);
  } catch (const std::exception& error) {
    return fail(std::string("error: ") + error.what() + "\n", kWorldFailed);
  }
}

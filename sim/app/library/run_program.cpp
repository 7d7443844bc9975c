// Runs a command line and turns every exception into a message and an exit code. No other code catches
// exceptions to end the program.
//
// Exit codes of the program: 0 success, 1 wrong input (InputError), 2 wrong usage (command_line.cpp), 3
// environment error such as a file that cannot be written, 130 interrupted.
#include "sim/app/library/run_program.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <unistd.h>

#include "sim/app/command_line.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/interrupted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/terminal.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

// Exit codes: wrong input, environment error (I/O), and 128 + SIGINT for an interrupted command.
constexpr int kWrongInput = 1, kEnvironmentError = 3, kInterrupted = 130;

/// Writes the message to standard error and returns `code`. Output that is already buffered is written first.
int fail(const std::string& text, int code) {
  std::fflush(stdout);
  const std::string shown = printable_lines(text);
  write_message(takes_colours(STDERR_FILENO) ? coloured(shown) : shown);
  return code;
}

/// Returns `code` when all output could be written; otherwise reports an environment error. A full disk must
/// not look like success.
int finish(int code) {
  if (HeldOutput::current() != nullptr) return code;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return fail("error: standard output: cannot be written\n", kEnvironmentError);
}

}  // namespace

// The order of the handlers matters: InputError and Interrupted are more specific than std::exception.
int run_program(int argc, char** argv) {
  try {
    return finish(run_command_line(argc, argv));
  } catch (const InputError& error) {
    return fail(error.what(), kWrongInput);
  } catch (const Interrupted& interrupted) {
    return fail(interrupted.what() + std::string("\n"), kInterrupted);
  } catch (const std::bad_alloc&) {
    return fail("error: out of memory\n", kEnvironmentError);
  } catch (const std::exception& error) {
    return fail(std::string("error: ") + error.what() + "\n", kEnvironmentError);
  }
}

HeldRun run_held(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"foretrain"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // A long-lived caller may change files between two calls, so the cache of read files is emptied.
  forget_read_files();
  HeldOutput held;
  const int code = run_program(static_cast<int>(words.size()), pointers.data());
  return {code, std::move(held.output), std::move(held.messages)};
}

}  // namespace foretrain

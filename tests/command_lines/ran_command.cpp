// A fork costs a tenth of starting the program anew: libraries are loaded and tables are read already.
#include "tests/command_lines/ran_command.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/app/command_line.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/interrupted.hpp"

namespace foretrain::test {

namespace {

constexpr int kWrongInput = 1, kWrongUsage = 2, kEnvironmentFailed = 3, kInterrupted = 130;
constexpr std::size_t kMostErrors = 8192;
/// Seconds by the clock, so many that no loaded machine reaches them by work.
constexpr unsigned kLongestWait = 600;

/// As main() does.
int code_of(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s", error.what());
    return kWrongInput;
  } catch (const Interrupted&) {
    return kInterrupted;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return kEnvironmentFailed;
  }
}

/// Sanitizers reserve terabytes of addresses and need more time: only the limits that they allow are set.
[[noreturn]] void run_child(const std::vector<std::string>& arguments, const CommandLimits& limits,
                            int errors) {
  const rlimit time{static_cast<rlim_t>(limits.seconds) + 1, static_cast<rlim_t>(limits.seconds) + 2};
  ::setrlimit(RLIMIT_CPU, &time);
  ::alarm(kLongestWait);  // what waits for ever takes no CPU
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  std::vector<std::string> words{"foretrain"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int code = code_of(static_cast<int>(words.size()), argv.data());
  std::fflush(stdout);
  std::fflush(stderr);
  ::_exit(code);
}

std::string text_in(int descriptor) {
  std::string text(kMostErrors, '\0');
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

/// An evidence store that a command was told to write (`evidence remove --all --store evidence.csv`,
/// `measured add`).
bool is_own_store(const std::vector<std::string>& arguments, const RanCommand& ran, const std::string& file) {
  const auto option = std::ranges::find(arguments, "--store");
  const bool is_named = option != arguments.end() && option + 1 != arguments.end() && *(option + 1) == file;
  const bool is_writer =
      !arguments.empty() && (arguments.front() == "evidence" || arguments.front() == "measured");
  return ran.code == 0 && is_writer && is_named;
}

}  // namespace

RanCommand run_command(const std::vector<std::string>& arguments, const CommandLimits& limits) {
  static const int errors = ::memfd_create("errors", MFD_CLOEXEC);
  [[maybe_unused]] const int cut = ::ftruncate(errors, 0);
  ::lseek(errors, 0, SEEK_SET);
  const pid_t child = ::fork();
  if (child == 0) run_child(arguments, limits, errors);
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  RanCommand out;
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  out.seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  out.kilobytes = used.ru_maxrss;
  out.errors = text_in(errors);
  return out;
}

bool is_slow(const RanCommand& ran, const CommandLimits& limits) {
  return ran.signal == SIGXCPU || ran.seconds > limits.seconds;
}

std::string broken_law(const std::vector<std::string>& arguments, const RanCommand& ran,
                       const CommandLimits& limits, const LeftBehind& left) {
  if (is_slow(ran, limits)) return fmt::format("took {:.1f} s of CPU", ran.seconds);
  if (ran.signal == SIGALRM) return "waited for ever";
  if (ran.signal != 0) return fmt::format("ended by signal {}", ran.signal);
  if (ran.code < 0 || ran.code > kEnvironmentFailed) return fmt::format("exit code {}", ran.code);
  if (ran.code != 0 && ran.errors.empty()) return fmt::format("exit code {} without a reason", ran.code);
  if (ran.kilobytes > limits.kilobytes) return fmt::format("took {} MiB", ran.kilobytes / 1024);
  for (const char* word : {"std::", "basic_string", "vector::", "terminate called", "bad optional"})
    if (ran.code == kEnvironmentFailed && ran.errors.find(word) != std::string::npos)
      return "an exception of the library as a message";
  for (const std::string& file : left.changed)
    if (!is_own_store(arguments, ran, file)) return "changed " + file;
  const bool is_check = std::ranges::find(arguments, "check") != arguments.end();
  const bool was_mistake = ran.code == kWrongUsage || (ran.code == kWrongInput && !is_check);
  if (was_mistake && !left.added.empty())
    return "left " + left.added.front() + " although the command was a mistake";
  return {};
}

}  // namespace foretrain::test

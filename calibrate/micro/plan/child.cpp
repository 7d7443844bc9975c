// posix_spawn rather than fork: the process may hold CUDA contexts and threads.
#include "calibrate/micro/plan/child.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain::micro {

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// This process's variables, those of `added` replaced.
std::vector<std::string> environment_with(const Settings& added) {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view variable(*at);
    const std::string_view name = variable.substr(0, variable.find('='));
    if (std::none_of(added.begin(), added.end(), [&](const auto& one) { return one.first == name; }))
      variables.emplace_back(variable);
  }
  for (const auto& [name, value] : added) variables.push_back(fmt::format("{}={}", name, value));
  return variables;
}

pid_t start(std::vector<std::string> command, const Settings& added, int output) {
  std::vector<std::string> variables = environment_with(added);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = 0;
  const int problem = ::posix_spawnp(&child, command[0].c_str(), &actions, nullptr,
                                     pointers_to(command).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0)
    throw EnvironmentError(fmt::format("{}: cannot be started: {}", command[0], std::strerror(problem)));
  return child;
}

/// Reads to the end; false when the time is over first.
bool read_all(int input, std::string& text, double timeout_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  char buffer[4096];
  while (true) {
    const double left = std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
    pollfd ready{input, POLLIN, 0};
    const int found = left <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left * 1000) + 1);
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return false;
    const ssize_t count = ::read(input, buffer, sizeof buffer);
    if (count <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, const Settings& environment,
                      double timeout_s) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("no pipe for {}: {}", command[0], std::strerror(errno)));
  pid_t child = 0;
  try {
    child = start(command, environment, ends[1]);
  } catch (...) {
    ::close(ends[0]), ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
  ChildResult result;
  const bool is_finished = read_all(ends[0], result.output, timeout_s);
  ::close(ends[0]);
  if (!is_finished) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = !is_finished ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace foretrain::micro

// A shell with our binary's folder first on its path, read through a pipe.
#include "tests/support/run_program.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include <sys/wait.h>

namespace foretrain::test {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace

ProgramRun run_program(const std::string& line, const std::string& folder, const std::string& binary) {
  const std::string path = std::filesystem::path(binary).parent_path().string();
  const std::string shell =
      "cd " + quoted(folder) + " && PATH=" + quoted(path) + ":$PATH && exec </dev/null 2>&1\n" + line + "\n";
  std::FILE* pipe = ::popen(shell.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
  ProgramRun run;
  std::array<char, 4096> block{};
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe))
    run.output.append(block.data(), got);
  const int status = ::pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

}  // namespace foretrain::test

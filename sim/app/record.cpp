// A training program is Python: the recorder is the Python package, which this door finds and runs.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/app/commands.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/scenario/catalog.hpp"

namespace foretrain {

namespace {

constexpr const char* kUsualPython = "python3";

/// The package of a source tree, where one of the catalogs' folders has it; nothing else is searched.
void find_package() {
  for (const std::string& folder : catalog_roots()) {
    const std::filesystem::path python = std::filesystem::path(folder) / "python";
    if (!std::filesystem::exists(python / "foretrain" / "__main__.py")) continue;
    const char* given = std::getenv("PYTHONPATH");
    const std::string path =
        given == nullptr ? python.string() : fmt::format("{}:{}", given, python.string());
    ::setenv("PYTHONPATH", path.c_str(), 1);
    return;
  }
}

}  // namespace

void run_record(const RecordCommand& command) {
  find_package();
  const char* named = std::getenv("FORETRAIN_PYTHON");
  std::vector<std::string> words{named == nullptr ? kUsualPython : named, "-m", "foretrain", "record"};
  words.insert(words.end(), command.words.begin(), command.words.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  throw WorldError(
      fmt::format("{} cannot be run: {}\n  hint: install Python with PyTorch, or name it in FORETRAIN_PYTHON",
                  words.front(), std::strerror(errno)));
}

}  // namespace foretrain

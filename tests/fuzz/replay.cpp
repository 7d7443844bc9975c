// Runs a fuzz target over the files of a folder and some mutants of each: the ordinary test of its corpus,
// without libFuzzer. Every target is in this one program. Arguments: target, folder.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "replay_targets.hpp"  // made by cmake/tests.cmake: every fuzz_*.cpp, its function named after the file, and kReplayTargets
#include "tests/fuzz/mutators/mutate.hpp"

namespace {

/// The same ones in every run.
constexpr unsigned kMutants = 4;

void run(const ReplayTarget& target, const std::string& bytes) {
  target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

void run_mutants(const ReplayTarget& target, std::string bytes) {
  const foretrain::test::Language language = foretrain::test::language_of(target.name);
  std::minstd_rand random(static_cast<unsigned>(bytes.size()) + 1);
  for (unsigned i = 0; i < kMutants; ++i) {
    bytes = foretrain::test::mutated(language, bytes, 2 * bytes.size() + 64, random);
    run(target, bytes);
  }
}

int replay_folder(const ReplayTarget& target, const char* folder) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    run(target, bytes);
    run_mutants(target, bytes);
    ++files;
  }
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (const ReplayTarget& target : kReplayTargets) {
    if (std::string_view(target.name) != argv[1]) continue;
    const int files = replay_folder(target, argv[2]);
    std::printf("%d inputs\n", files);
    return files > 0 ? 0 : 1;
  }
  std::printf("no target %s\n", argv[1]);
  return 2;
}

// libFuzzer's door to the mutators by pieces: half of the mutations are ours, half its own bytes and words.
#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "tests/fuzz/mutators/mutate.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t longest);

namespace {

foretrain::test::Language& language() {
  static foretrain::test::Language value = foretrain::test::Language::lines;
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc > 0)
    language() = foretrain::test::language_of(std::filesystem::path((*argv)[0]).filename().string());
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t longest,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  if (random() % 2 == 0 || size == 0) return LLVMFuzzerMutate(data, size, longest);
  const std::string result =
      foretrain::test::mutated(language(), {reinterpret_cast<const char*>(data), size}, longest, random);
  std::copy(result.begin(), result.end(), data);
  return result.size();
}

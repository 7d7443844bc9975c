// AFL++ over what was built for libFuzzer: clang's counters of edges are cleared before every input and added
// to AFL's map behind it, so that both fuzzers run the same objects (--wrap=LLVMFuzzerTestOneInput).
#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" {
extern std::uint8_t* __afl_area_ptr;
int __real_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
}

namespace {

/// AFL's own size of the map, where nobody asks for another.
constexpr std::size_t kMap = 1 << 16;
/// Spreads neighbouring edges (Knuth's multiplicative hash).
constexpr std::size_t kSpread = 2654435761;

struct Counters {
  std::uint8_t *begin = nullptr, *end = nullptr;
};
Counters counters;  // one section for the whole program

}  // namespace

extern "C" {

void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end) { counters = {begin, end}; }
void __sanitizer_cov_pcs_init(const std::uintptr_t*, const std::uintptr_t*) {}

int __wrap_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::fill(counters.begin, counters.end, std::uint8_t{0});
  const int result = __real_LLVMFuzzerTestOneInput(data, size);
  for (const std::uint8_t* counter = counters.begin; counter != counters.end; ++counter) {
    if (*counter == 0) continue;
    const auto edge = static_cast<std::size_t>(counter - counters.begin);
    std::uint8_t& place = __afl_area_ptr[(edge * kSpread >> 8) % kMap];
    place = static_cast<std::uint8_t>(std::min(255, place + *counter));
  }
  return result;
}
}

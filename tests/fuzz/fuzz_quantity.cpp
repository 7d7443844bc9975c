// Fuzz target: quantities of every dimension from any bytes; what is accepted must be finite, not negative
// and printable.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sim/base/quantity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using foretrain::Dimension;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Dimension wanted : {Dimension::time, Dimension::bytes, Dimension::flops, Dimension::byte_rate,
                                 Dimension::flop_rate, Dimension::power}) {
    const auto parsed = foretrain::parse_quantity(text, wanted);
    if (parsed && !(std::isfinite(parsed.value) && parsed.value >= 0)) std::abort();
    if (parsed && foretrain::to_string(foretrain::seconds(parsed.value)).empty()) std::abort();
  }
  return 0;
}

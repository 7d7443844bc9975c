// Fuzz target: sizes from any bytes; what is read without a mistake must be within the limits.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/scenario/csv/message_sizes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const foretrain::SourceText source{"--sizes", std::string(reinterpret_cast<const char*>(data), size)};
  foretrain::Diagnostics diagnostics(source);
  const std::vector<foretrain::Bytes> sizes = foretrain::read_message_sizes(source, diagnostics);
  if (!diagnostics.empty()) return format(diagnostics.found()).empty() ? (std::abort(), 0) : 0;
  if (sizes.empty() || sizes.size() > foretrain::kMostSizes) std::abort();
  for (const foretrain::Bytes bytes : sizes) {
    if (bytes.count < 0 || bytes > foretrain::kLargestMessage) std::abort();
  }
  return 0;
}

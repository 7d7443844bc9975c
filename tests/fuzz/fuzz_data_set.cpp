// Fuzz target: data-set files from any bytes; one without mistakes must cost a batch some time.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/scenario/schema/schemas.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const foretrain::SourceText source{"fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)};
  foretrain::Diagnostics diagnostics(source);
  const foretrain::DataSet set = foretrain::read_data_set(source, diagnostics);
  if (!diagnostics.empty()) return format(diagnostics.found()).empty() ? (std::abort(), 0) : 0;
  if (set.samples < 1 || set.decode < foretrain::Time::zero() || set.stored_bytes.count < 0) std::abort();
  return 0;
}

// Fuzz target: model files from any bytes; a model without mistakes must expand without faults.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/lowering/operators.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const foretrain::SourceText source{"fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)};
  foretrain::Diagnostics diagnostics(source);
  const foretrain::ModelFile file = foretrain::read_model_file(source, diagnostics);
  const bool layers = diagnostics.empty() && !file.model.is_recorded;
  if (layers && !foretrain::expand(file.model).faults.empty()) std::abort();
  if (!diagnostics.empty() && format(diagnostics.found()).empty()) std::abort();
  return 0;
}

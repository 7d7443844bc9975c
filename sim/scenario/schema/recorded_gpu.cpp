// Recorded GPUs. The catalog reads names as drivers write them (gpu_names.hpp).
#include "sim/scenario/schema/recorded_gpu.hpp"

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

/// The GPU is read with its rates: measured times are set against those that are modelled on this GPU.
std::optional<Gpu> find_recorded_gpu(TableReader& table, std::string_view key, const std::string& name) {
  const auto source = find_named(CatalogKind::gpus, name, table.span_of(key), table.diagnostics());
  if (!source) return std::nullopt;
  Diagnostics own(*source);
  Gpu gpu = read_gpu(*source, own);
  // Mistakes in the GPU's file are shown there.
  table.diagnostics().include(own.found());
  if (!own.empty()) return std::nullopt;
  return gpu;
}

}  // namespace foretrain

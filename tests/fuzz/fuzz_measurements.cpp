// Fuzz target: measurement files from any bytes; what is read without a mistake must be in range.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/scenario/csv/measurements.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using foretrain::test::require;

void check_sound(const foretrain::MeasurementFile& file) {
  using Kind = foretrain::MeasurementFile::Kind;
  require((file.kind == Kind::scaling || file.scaling.empty()) &&
          (file.kind == Kind::collective || file.collective.empty()) &&
          (file.kind == Kind::kernels || file.kernels.empty()));
  for (const auto& m : file.scaling)
    require(m.value > 0 && std::isfinite(m.value) && m.nodes >= 1 && m.gpus >= m.nodes &&
            m.batch_per_gpu >= 1);
  for (const auto& m : file.collective)
    require(m.time_us > 0 && std::isfinite(m.time_us) && m.nodes >= 1 && m.gpus >= m.nodes && m.bytes >= 0);
  for (const auto& m : file.kernels)
    require(m.op != nullptr && m.time_us > 0 && std::isfinite(m.time_us) && m.shape.rows >= 1 &&
            m.shape.batch >= 1 && m.shape.result_side() >= 1);
  for (const auto& m : file.large_models)
    require(m.nodes >= 1 && m.gpus >= m.nodes && m.step_s >= 0 && std::isfinite(m.step_s) &&
            std::isfinite(m.memory_gb));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const foretrain::SourceText source{"fuzz.csv", std::string(reinterpret_cast<const char*>(data), size)};
  foretrain::Diagnostics diagnostics(source);
  const foretrain::MeasurementFile file = foretrain::read_measurements(source, diagnostics);
  if (diagnostics.empty()) check_sound(file);
  if (!diagnostics.empty() && format(diagnostics.found()).empty()) std::abort();
  return 0;
}

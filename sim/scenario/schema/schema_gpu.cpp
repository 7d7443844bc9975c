// The GPU file: data-sheet rates and memory.
#include <algorithm>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> names{"cpu",    "kepler", "pascal", "volta",    "turing",
                                              "ampere", "ada",    "hopper", "blackwell"};
  return names;
}

Architecture read_architecture(TableReader& reader) {
  const auto name = reader.one_of("architecture", architecture_names());
  if (!name) return Architecture::volta;
  const auto& names = architecture_names();
  return static_cast<Architecture>(std::find(names.begin(), names.end(), *name) - names.begin());
}

/// A rate that must be more than zero when it is given.
FlopRate read_gpu_rate(TableReader& reader, std::string_view key) {
  const auto rate = reader.flop_rate(key);
  if (rate && !(rate->per_second > 0))
    reader.report(reader.span_of(key), reader.full_name(key) + " must be more than zero",
                  "leave it out when the GPU does not support it");
  return rate.value_or(FlopRate{});
}

ByteRate read_memory_bandwidth(TableReader& reader) {
  const auto rate = reader.byte_rate("memory_bandwidth");
  if (rate && !(rate->per_second > 0))
    reader.report(reader.span_of("memory_bandwidth"), "memory_bandwidth must be more than zero");
  return rate.value_or(ByteRate{});
}

Bytes read_gpu_size(TableReader& reader, std::string_view key) {
  const auto size = reader.bytes(key);
  if (size && size->count < 1)
    reader.report(reader.span_of(key), reader.full_name(key) + " must be more than zero");
  return size.value_or(Bytes{});
}

}  // namespace

Gpu read_gpu(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  TableReader reader(table, "", diagnostics);
  Gpu gpu;
  gpu.name = name_of_file(source.name);
  reader.require("architecture", "\"volta\"");
  reader.require("fp32", "\"15.7 TFLOPs\"");
  reader.require("memory", "\"32 GB\"");
  reader.require("memory_bandwidth", "\"900 GBps\"");
  reader.require("sm_count", "80");
  gpu.architecture = read_architecture(reader);
  gpu.compute_capability = reader.number("compute_capability", 1, 20).value_or(gpu.compute_capability);
  gpu.fp64 = read_gpu_rate(reader, "fp64");
  gpu.fp32 = read_gpu_rate(reader, "fp32");
  gpu.tf32 = read_gpu_rate(reader, "tf32");
  gpu.fp16 = read_gpu_rate(reader, "fp16");
  gpu.bf16 = read_gpu_rate(reader, "bf16");
  gpu.fp8 = read_gpu_rate(reader, "fp8");
  gpu.memory = read_gpu_size(reader, "memory");
  gpu.usable_memory = read_gpu_size(reader, "usable_memory");
  gpu.memory_bandwidth = read_memory_bandwidth(reader);
  gpu.memory_efficiency = reader.number("memory_efficiency", 0.01, 1).value_or(gpu.memory_efficiency);
  gpu.staging_share = reader.number("staging_share", 0.01, 1).value_or(gpu.staging_share);
  gpu.sustained_clock = reader.number("sustained_clock", 0.1, 1).value_or(gpu.sustained_clock);
  gpu.l2_cache = read_gpu_size(reader, "l2_cache");
  gpu.tdp_w = reader.watts("tdp").value_or(0);
  gpu.sm_count = static_cast<int>(reader.integer("sm_count", 1, 10'000).value_or(1));
  reader.finish();
  return gpu;
}

}  // namespace foretrain

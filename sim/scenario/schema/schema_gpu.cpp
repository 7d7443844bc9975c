// The GPU file: data-sheet rates and memory, and how the GPU is usually built into a node. Rates are dense
// peak rates; a missing rate means that the GPU does not support the format.
// architecture = "volta"
// fp32 = "15.7 TFLOPs"
// memory = "32 GB"
// memory_bandwidth = "900 GBps"
// sm_count = 80
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/cluster_keys.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns the architectures with their names in files.
std::vector<Choice<Architecture>> architectures() {
  using enum Architecture;
  return {{"cpu", cpu},     {"kepler", kepler}, {"pascal", pascal},
          {"volta", volta}, {"turing", turing}, {"ampere", ampere},
          {"ada", ada},     {"hopper", hopper}, {"blackwell", blackwell},
          {"cdna", cdna},   {"cdna2", cdna2},   {"cdna3", cdna3}};
}

/// A rate in FLOP per second that must be above zero if it is given.
template <auto Member>
Takes<Gpu> gpu_rate() {
  return {"rate", [](TableReader& table, std::string_view key, Gpu& gpu) {
            const auto rate = table.flop_rate(key);
            if (rate && !(rate->per_second > 0))
              table.report(table.span_of(key), table.full_name(key) + " must be more than zero",
                           "leave it out when the GPU does not support it");
            takes::put(rate, gpu.*Member);
          }};
}

/// A size in bytes that must be above zero if it is given.
template <auto Member>
Takes<Gpu> gpu_size() {
  return {"size", [](TableReader& table, std::string_view key, Gpu& gpu) {
            const auto size = table.bytes(key);
            if (size && size->count < 1)
              table.report(table.span_of(key), table.full_name(key) + " must be more than zero");
            takes::put(size, gpu.*Member);
          }};
}

/// The reference page's text for a missing rate.
constexpr std::string_view kNotSupported = "not supported";
/// Largest number of NVLinks of a GPU.
constexpr int kMostNvlinks = 64;

/// Peak rates by number format.
const Keys<Gpu>& rate_keys() {
  static const Keys<Gpu> keys{
      {"fp64", gpu_rate<&Gpu::fp64>(), "\"7.8 TFLOPs\"", kNotSupported, "dense peak rate in 64 bits"},
      {"fp32", gpu_rate<&Gpu::fp32>(), "\"15.7 TFLOPs\"", kRequired, "in 32 bits, without tensor cores"},
      {"tf32", gpu_rate<&Gpu::tf32>(), "\"156 TFLOPs\"", kNotSupported, "TF32 on tensor cores"},
      {"fp16", gpu_rate<&Gpu::fp16>(), "\"125 TFLOPs\"", kNotSupported,
       "in 16 bits, on tensor cores where there are some, sums in 32 bits, without sparsity"},
      {"bf16", gpu_rate<&Gpu::bf16>(), "\"312 TFLOPs\"", kNotSupported, "likewise"},
      {"fp8", gpu_rate<&Gpu::fp8>(), "\"733 TFLOPs\"", kNotSupported, "likewise"}};
  return keys;
}

/// Keys of the GPU's memory.
const Keys<Gpu>& memory_keys() {
  static const Keys<Gpu> keys{
      {"memory", gpu_size<&Gpu::memory>(), "\"32 GB\"", kRequired, "of the data sheet"},
      {"usable_memory", gpu_size<&Gpu::usable_memory>(), "\"32510 MiB\"", "memory",
       "what the driver leaves to programs: the total of nvidia-smi"},
      {"memory_bandwidth", takes::rate<&Gpu::memory_bandwidth>(), "\"900 GBps\"", kRequired,
       "of the data sheet"},
      {"memory_efficiency", takes::number<&Gpu::memory_efficiency>(0.01, 1), "0.8", "0.8",
       "what streaming kernels reach of it"},
      {"l2_cache", gpu_size<&Gpu::l2_cache>(), "\"6 MB\"", "unknown", "of the whole GPU"}};
  return keys;
}

}  // namespace

/// Rates are dense: without structured sparsity.
const Keys<Gpu>& gpu_keys() {
  static const Keys<Gpu> keys =
      Keys<Gpu>{
          {"architecture", takes::choice<&Gpu::architecture>(architectures()), "\"volta\"", kRequired,
           "NVIDIA's generation; cdna, cdna2 and cdna3: AMD's; cpu: no GPU, the cores of the host compute"},
          {"compute_capability", takes::number<&Gpu::compute_capability>(1, 20), "7.0", "7.0",
           "as nvidia-smi --query-gpu=compute_cap or PyTorch prints it"}} +
      rate_keys() + memory_keys() +
      Keys<Gpu>{{"sm_count", takes::integer<&Gpu::sm_count>(1, 10'000), "80", kRequired,
                 "streaming multiprocessors; AMD's compute units"},
                {"sustained_clock", takes::number<&Gpu::sustained_clock>(0.1, 1), "0.9", "1",
                 "clock under training load / clock of the rates above: less for cards with a small power "
                 "budget"},
                {"trainings_measured", takes::flag<&Gpu::trainings_measured>(), "true", "false",
                 "docs/measured has trainings on it, so that intervals are narrower (`tools/fit_spreads`)"},
                {"staging_share", takes::number<&Gpu::staging_share>(0.01, 1), "0.67", "0.64",
                 "of its host link's rate, what its kernels reach each way when GPUs exchange data through "
                 "host memory"},
                {"tdp", takes::power<&Gpu::tdp_w>(), "\"300 W\"", "unknown",
                 "board power, for the energy of a job"}};
  return keys;
}

/// Keys of [ports], which only `topology new` reads.
const Keys<GpuPorts>& gpu_port_keys() {
  static const Keys<GpuPorts> keys{
      {"host", takes::text<&GpuPorts::host>("name of a link"), "\"pcie4_x16\"", "by the architecture",
       "the link to a CPU or PCIe switch"},
      {"nvlink", takes::text<&GpuPorts::nvlink>("name of a link"), "\"nvlink3\"", "none",
       "the kind of its NVLinks"},
      {"nvlinks", takes::integer<&GpuPorts::nvlinks>(1, kMostNvlinks), "12", "0", "how many a GPU has"},
      {"bridged", takes::flag<&GpuPorts::bridged>(), "true", "false",
       "NVLinks come with a bridge between two cards; otherwise they are wired on the board"},
      {"peer_access", takes::flag<&GpuPorts::peer_access>(), "false", "true",
       "drivers let GPUs and adapters reach the card's memory over PCIe; those of GeForce do not"}};
  return keys;
}

/// The name of a GPU is that of its file.
Gpu read_gpu(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  TableReader reader(table, "", diagnostics);
  Gpu gpu;
  gpu.name = name_of_file(source.name);
  // A missing number of multiprocessors counts as 1, so that later divisions are valid.
  gpu.sm_count = 1;
  read_keys(reader, gpu_keys(), gpu);
  if (const Table* ports = reader.table("ports")) {
    TableReader of_ports(*ports, "ports", diagnostics);
    read_keys(of_ports, gpu_port_keys(), gpu.ports);
    of_ports.finish();
  }
  reader.finish();
  return gpu;
}

}  // namespace foretrain

// The rate of a network tells only in which years its nodes were bought, so it counts only where nothing else
// is known.
#include "sim/import/machines/node_gpu.hpp"

#include <algorithm>

#include "sim/import/machines/amd_links.hpp"

namespace foretrain {

namespace {

/// Returns the PCIe generation that came with networks of this rate; 0 when the rate is too low to tell or a
/// file describes the GPUs.
int generation_by_network(const Machine& machine, const GpuTraits& traits) {
  const bool is_unknown = traits.product.empty() && traits.pci_device.empty() && traits.generation == 0 &&
                          traits.compute_capability <= 0 && !machine.tells_nvlinks;
  double gbps = machine.fabric.gbps;
  for (const int i : machine.of_kind(PartKind::adapter))
    gbps = std::max(gbps, machine.parts[static_cast<std::size_t>(i)].network_gbps);
  // Networks below 90 Gb/s are found in nodes of every year.
  if (!is_unknown || gbps < 90) return 0;
  return gbps > 300 ? 5 : gbps > 150 ? 4 : 3;
}

}  // namespace

RecognisedGpu gpu_of_node(const Machine& machine, GpuTraits traits) {
  // "1002:" without a device is what readers of rocm-smi give: the maker is known, the product is not.
  if (machine.has_no_gpu) return {"cpu-core", "no GPU in this node: a core of it computes"};
  if (traits.pci_device == "1002:" && traits.product.empty())
    return {amd_gpu_joined_as(machine.nvlinks, gpus_of(machine)), "AMD's GPUs that are joined like these",
            true};
  const int generation = generation_by_network(machine, traits);
  if (generation > 0) traits.generation = generation;
  RecognisedGpu out = recognised_gpu(traits);
  if (generation > 0) out.because = "what nodes on such a network have: no file names it";
  return out;
}

}  // namespace foretrain

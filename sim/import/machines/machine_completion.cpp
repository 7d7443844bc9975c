// Adds the least that turns a list of facts into a node. Devices are spread evenly over the sockets, as
// servers have them.
#include "sim/import/machines/machine_completion.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/cluster/cluster.hpp"

namespace foretrain {

namespace {

/// Throws InputError at the place of the machine's devices.
[[noreturn]] void refuse_machine(const Machine& machine, std::string message, std::string hint) {
  throw InputError(
      {{machine.place.file, {machine.place.line, 1, 1}, "", std::move(message), std::move(hint)}});
}

/// Number of GPUs of a node that no file describes.
constexpr int kUsualGpus = 8;

/// Returns the sockets of a node whose file counts none: servers with more than two GPUs have two.
int usual_sockets(const Machine& machine, int gpus) {
  if (machine.sockets > 0) return std::min(machine.sockets, kMostCpusPerNode);
  return gpus > 2 ? 2 : 1;
}

/// Returns the number of GPUs: as files or the user say, one (a core of the host) where a file says that
/// there are none, else the usual number, as an assumption.
int gpus_to_place(const Machine& machine, int gpus_per_node, std::vector<std::string>& assumptions) {
  if (machine.gpu_count > 0) return machine.gpu_count;
  if (gpus_per_node > 0) return gpus_per_node;
  if (machine.has_no_gpu) return 1;
  assumptions.push_back(fmt::format(
      "the node: {}, as most servers for training have; no file tells one. Give a file of a node beside it, "
      "as `nvidia-smi topo -m` prints, or --gpu and --gpus-per-node",
      counted(kUsualGpus, "GPU")));
  return kUsualGpus;
}

/// Places the GPUs evenly over the sockets, which are added as needed.
void place_gpus(Machine& machine, int gpus_per_node, std::vector<std::string>& assumptions) {
  const int gpus = gpus_to_place(machine, gpus_per_node, assumptions), sockets = usual_sockets(machine, gpus);
  std::vector<int> places = machine.of_kind(PartKind::socket);
  while (static_cast<int>(places.size()) < sockets) {
    places.push_back(static_cast<int>(machine.parts.size()));
    machine.parts.push_back({PartKind::socket, -1});
  }
  for (int i = 0; i < gpus; ++i)
    machine.parts.push_back({PartKind::gpu, places[static_cast<std::size_t>(i * sockets / gpus)]});
  if (machine.has_no_gpu) return;
  assumptions.push_back(
      fmt::format("where {} hang: spread over {}", counted(gpus, "GPU"), counted(sockets, "socket")));
}

/// Places as many adapters as hosts of the network have, evenly over the sockets; one adapter when no file
/// lists them.
void place_adapters(Machine& machine, const std::vector<int>& sockets,
                    std::vector<std::string>& assumptions) {
  const std::size_t count = std::min<std::size_t>(machine.host_adapters.size(), kMostNicsPerNode);
  if (count < 2) {
    machine.parts.push_back({PartKind::adapter, sockets.front()});
    assumptions.push_back("one network adapter in a node, at the first socket");
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    machine.parts.push_back({PartKind::adapter, sockets[i * sockets.size() / count]});
    machine.parts.back().name = machine.host_adapters[i];
  }
  assumptions.push_back(fmt::format("where {} hang: spread over {}",
                                    counted(std::ssize(machine.host_adapters), "adapter"),
                                    counted(std::ssize(sockets), "socket")));
}

/// Throws InputError when there are more parts of a kind than a node may have.
void refuse_too_many(const Machine& machine, PartKind kind, std::string_view what, int most) {
  const auto count = machine.of_kind(kind).size();
  if (count > static_cast<std::size_t>(most))
    refuse_machine(machine, fmt::format("{} in a node: at most {}", counted(count, what), most), "");
}

}  // namespace

void complete_devices(Machine& machine, int gpus_per_node, bool needs_network,
                      std::vector<std::string>& assumptions) {
  // The devices were listed, and no GPU was among them: a count must come from another file or the user.
  const bool is_seen = machine.lists_devices || (machine.cores > 0 && !machine.parts.empty());
  const bool is_told = machine.gpu_count > 0 || gpus_per_node > 0 || machine.has_no_gpu;
  if (machine.of_kind(PartKind::gpu).empty() && (is_told || !is_seen))
    place_gpus(machine, gpus_per_node, assumptions);
  const std::vector<int> sockets = machine.of_kind(PartKind::socket);
  if (needs_network && !sockets.empty() && machine.of_kind(PartKind::adapter).empty()) {
    place_adapters(machine, sockets, assumptions);
  }
  refuse_too_many(machine, PartKind::gpu, "GPU", kMostGpusPerNode);
  refuse_too_many(machine, PartKind::socket, "socket", kMostCpusPerNode);
  refuse_too_many(machine, PartKind::pcie_switch, "PCIe switch", kMostSwitchesPerNode);
  refuse_too_many(machine, PartKind::adapter, "adapter", kMostNicsPerNode);
  if (!machine.of_kind(PartKind::gpu).empty()) return;
  if (machine.lists_devices)
    refuse_machine(machine, "no GPU in this list of PCI devices",
                   "paste the whole list of a node with GPUs, or give --gpu NAME and --gpus-per-node N");
  refuse_machine(machine, "no GPU in this machine",
                 "`foretrain topology detect` on it lets a core take the place of each GPU");
}

}  // namespace foretrain

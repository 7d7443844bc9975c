// The least that makes a node of a list.
#include "sim/import/machines/machine_completion.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/cluster/cluster.hpp"

namespace foretrain {

namespace {

[[noreturn]] void refuse_machine(const Machine& machine, std::string message, std::string hint) {
  throw InputError(
      {{machine.place.file, {machine.place.line, 1, 1}, "", std::move(message), std::move(hint)}});
}

/// Servers with more than two GPUs have two sockets.
int usual_sockets(const Machine& machine, int gpus) {
  if (machine.sockets > 0) return std::min(machine.sockets, kMostCpusPerNode);
  return gpus > 2 ? 2 : 1;
}

void place_gpus(Machine& machine, int gpus_per_node, std::vector<std::string>& assumptions) {
  const int gpus = machine.gpu_count > 0 ? machine.gpu_count : gpus_per_node;
  if (gpus == 0)
    refuse_machine(
        machine, "no GPU of a node is told here",
        "give a file of a node beside it, as `nvidia-smi topo -m` prints, or --gpu and --gpus-per-node");
  const int sockets = usual_sockets(machine, gpus);
  for (int i = 0; i < sockets; ++i) machine.parts.push_back({PartKind::socket, -1});
  for (int i = 0; i < gpus; ++i) machine.parts.push_back({PartKind::gpu, i * sockets / gpus});
  assumptions.push_back(
      fmt::format("where {} hang: spread over {}", counted(gpus, "GPU"), counted(sockets, "socket")));
}

void refuse_too_many(const Machine& machine, PartKind kind, std::string_view what, int most) {
  const auto count = machine.of_kind(kind).size();
  if (count > static_cast<std::size_t>(most))
    refuse_machine(machine, fmt::format("{} in a node: at most {}", counted(count, what), most), "");
}

}  // namespace

void complete_devices(Machine& machine, int gpus_per_node, bool needs_network,
                      std::vector<std::string>& assumptions) {
  if (machine.parts.empty()) place_gpus(machine, gpus_per_node, assumptions);
  const std::vector<int> sockets = machine.of_kind(PartKind::socket);
  if (needs_network && !sockets.empty() && machine.of_kind(PartKind::adapter).empty()) {
    machine.parts.push_back({PartKind::adapter, sockets.front()});
    assumptions.push_back("one network adapter in a node, at the first socket");
  }
  refuse_too_many(machine, PartKind::gpu, "GPU", kMostGpusPerNode);
  refuse_too_many(machine, PartKind::socket, "socket", kMostCpusPerNode);
  refuse_too_many(machine, PartKind::pcie_switch, "PCIe switch", kMostSwitchesPerNode);
  refuse_too_many(machine, PartKind::adapter, "adapter", kMostNicsPerNode);
  if (machine.of_kind(PartKind::gpu).empty())
    refuse_machine(machine, "no GPU in this machine",
                   "`foretrain topology detect` on it lets a core take the place of each GPU");
}

}  // namespace foretrain

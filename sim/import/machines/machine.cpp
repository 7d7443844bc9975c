// One machine out of what several files say.
#include "sim/import/machines/machine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

Diagnostic contradiction(const Machine& one, const Machine& other) {
  return {one.place.file,
          {one.place.line, 1, 1},
          "",
          fmt::format("{} here, {} in {}:{}", counted(gpus_of(one), "GPU"), gpus_of(other), other.place.file,
                      other.place.line),
          "give files of one and the same kind of node"};
}

template <class Value>
void take_if_unsaid(Value& value, const Value& other) {
  if (value == Value{}) value = other;
}

void take_fabric(MachineFabric& fabric, const MachineFabric& other) {
  take_if_unsaid(fabric.nodes, other.nodes);
  take_if_unsaid(fabric.gbps, other.gbps);
  if (fabric.levels > 0) return;
  fabric.levels = other.levels;
  fabric.nodes_per_leaf = other.nodes_per_leaf;
  fabric.uplinks_per_leaf = other.uplinks_per_leaf;
}

void take_site(Site& site, const Site& other) {
  if (site.system == BatchSystem::none) site.system = other.system;
  take_if_unsaid(site.gpu_type, other.gpu_type);
  if (site.partitions.empty()) site.partitions = other.partitions;
}

/// What `machine` does not say and `other` does.
void take_missing(Machine& machine, const Machine& other) {
  if (!machine.tells_nvlinks && other.tells_nvlinks && gpus_of(machine) == gpus_of(other)) {
    machine.nvlinks = other.nvlinks;
    machine.tells_nvlinks = true;
  }
  take_if_unsaid(machine.peer_access, other.peer_access);
  take_if_unsaid(machine.gpu_count, other.gpu_count);
  take_if_unsaid(machine.gpu_product, other.gpu_product);
  take_if_unsaid(machine.gpu_memory, other.gpu_memory);
  take_if_unsaid(machine.cpu_model, other.cpu_model);
  take_if_unsaid(machine.family, other.family);
  take_if_unsaid(machine.sockets, other.sockets);
  take_if_unsaid(machine.cores, other.cores);
  take_if_unsaid(machine.memory, other.memory);
  take_fabric(machine.fabric, other.fabric);
  take_site(machine.site, other.site);
  machine.remarks.insert(machine.remarks.end(), other.remarks.begin(), other.remarks.end());
  machine.doubts.insert(machine.doubts.end(), other.doubts.begin(), other.doubts.end());
}

void refuse_other_counts(const Machine& base, const std::vector<Machine>& machines) {
  std::vector<Diagnostic> mistakes;
  for (const Machine& machine : machines) {
    if (gpus_of(machine) > 0 && gpus_of(machine) != gpus_of(base))
      mistakes.push_back(contradiction(machine, base));
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

}  // namespace

std::string to_string(const FactPlace& place) {
  return place.line > 0 ? fmt::format("{}:{}", place.file, place.line) : place.file;
}

std::vector<int> Machine::of_kind(PartKind kind) const {
  std::vector<int> indices;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == kind) indices.push_back(static_cast<int>(i));
  }
  return indices;
}

int gpus_of(const Machine& machine) {
  const int placed = static_cast<int>(machine.of_kind(PartKind::gpu).size());
  return placed > 0 ? placed : machine.gpu_count;
}

Machine joined(const std::vector<Machine>& machines) {
  const auto devices = [](const Machine& machine) { return machine.parts.size(); };
  Machine out = *std::ranges::max_element(machines, {}, devices);
  if (out.parts.empty() || gpus_of(out) == 0) {
    // A network's file may place more devices than the node's; GPUs decide then.
    out = *std::ranges::max_element(machines, {}, gpus_of);
  }
  refuse_other_counts(out, machines);
  for (const Machine& machine : machines) {
    if (machine.place != out.place) take_missing(out, machine);
  }
  return out;
}

}  // namespace foretrain

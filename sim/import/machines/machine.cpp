// Joins what several files say of one node: contradictions are refused, missing facts are filled from the
// other files.
#include "sim/import/machines/machine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/machines/pci_devices.hpp"

namespace foretrain {

namespace {

/// Returns the mistake that two files count GPUs differently, at the place of the first.
Diagnostic contradiction(const Machine& one, const Machine& other) {
  return {one.place.file,
          {one.place.line, 1, 1},
          "",
          fmt::format("{} here, {} in {}:{}", counted(gpus_of(one), "GPU"), gpus_of(other), other.place.file,
                      other.place.line),
          "give files of one and the same kind of node"};
}

/// Returns the mistake that two files name different products, at the place of the first.
Diagnostic other_product(const Machine& one, const Machine& other) {
  return {one.place.file,
          {one.place.line, 1, 1},
          "",
          fmt::format("{} here, {} in {}:{}", one.gpu_product, other.gpu_product, other.place.file,
                      other.place.line),
          "give files of one and the same kind of node"};
}

/// Says whether one text contains the other, regardless of case: "a100" is in "nvidia_a100-sxm4".
bool holds_either(std::string_view one, std::string_view other) {
  const std::string a = lower_case(one), b = lower_case(other);
  return a.find(b) != std::string::npos || b.find(a) != std::string::npos;
}

/// Says whether a word holds a digit.
bool has_digit(const std::string& word) {
  return std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the words that tell products apart: those with digits that are neither a size of memory nor a
/// socket.
std::vector<std::string> product_numbers(std::string_view product) {
  std::vector<std::string> words = product_words(product);
  std::erase_if(words, [](const std::string& word) {
    const bool is_size = word.ends_with("gb") && word.find_first_not_of("0123456789") == word.size() - 2;
    return !has_digit(word) || is_size || word.starts_with("sxm");
  });
  return words;
}

/// Replaces a value that is still the default.
template <class Value>
void take_if_unset(Value& value, const Value& other) {
  if (value == Value{}) value = other;
}

/// Fills the fabric. Levels, leaves and uplinks belong together and come from one file.
void take_fabric(MachineFabric& fabric, const MachineFabric& other) {
  take_if_unset(fabric.nodes, other.nodes);
  take_if_unset(fabric.gbps, other.gbps);
  if (fabric.levels > 0) return;
  fabric.levels = other.levels;
  fabric.nodes_per_leaf = other.nodes_per_leaf;
  fabric.uplinks_per_leaf = other.uplinks_per_leaf;
}

/// Fills the site; lists of partitions are joined by name.
void take_site(Site& site, const Site& other) {
  if (site.system == BatchSystem::none) site.system = other.system;
  take_if_unset(site.gpu_type, other.gpu_type);
  if (site.partitions.empty()) site.partitions = other.partitions;
  // Nodes say which partitions they are in; the list of partitions says what these allow.
  for (Partition& partition : site.partitions) {
    const auto told = std::ranges::find(other.partitions, partition.name, &Partition::name);
    if (told != other.partitions.end()) partition = *told;
  }
}

/// Converts an index for containers.
std::size_t index(int number) { return static_cast<std::size_t>(number); }

/// Says whether two ports are the same: by name, or by model where the tool shows no names (lspci).
bool is_same_port(const MachinePart& mine, const MachinePart& port) {
  if (!mine.name.empty() || port.pci_device.empty()) return !port.name.empty() && mine.name == port.name;
  return mine.pci_device == port.pci_device;
}

/// Joins ports that one file places and another measures. Where no file places them, they hang at the first
/// socket.
void take_adapters(Machine& machine, const Machine& other) {
  const std::vector<int> own = machine.of_kind(PartKind::adapter);
  for (const int at : other.of_kind(PartKind::adapter)) {
    const MachinePart& port = other.parts[index(at)];
    const auto same =
        std::ranges::find_if(own, [&](int mine) { return is_same_port(machine.parts[index(mine)], port); });
    if (same != own.end()) {
      MachinePart& mine = machine.parts[index(*same)];
      take_if_unset(mine.name, port.name);
      take_if_unset(mine.network_gbps, port.network_gbps);
      take_if_unset(mine.pci_device, port.pci_device);
      mine.is_ethernet = mine.is_ethernet || port.is_ethernet;
    } else if (own.empty()) {
      if (machine.of_kind(PartKind::socket).empty()) machine.parts.push_back({PartKind::socket, -1});
      machine.parts.push_back(port);
      machine.parts.back().parent = machine.of_kind(PartKind::socket).front();
    }
  }
}

/// Keeps the name of the product that says more: of "NVIDIA A100-SXM4-80GB" and "a100" the first.
void take_product(Machine& machine, const Machine& other) {
  const std::size_t own = product_words(machine.gpu_product).size();
  if (machine.gpu_product.empty() || product_words(other.gpu_product).size() > own)
    machine.gpu_product = other.gpu_product;
}

/// Fills cores and sockets. Cores from affinities may be fewer than the node has, as NUMA nodes without a GPU
/// are not among them.
/// A file that counts all cores therefore replaces them, with a warning.
void take_cores(Machine& machine, const Machine& other) {
  if (machine.affinity_cores && !other.affinity_cores && other.cores > 0) {
    if (other.cores != machine.cores)
      machine.doubts.push_back(
          {machine.place,
           fmt::format("the affinities of GPUs show {}, and {} says {}", counted(machine.cores, "core"),
                       printable(other.place.file), other.cores),
           "the file has the second; NUMA nodes without a GPU stand in no affinity"});
    machine.cores = other.cores, machine.affinity_cores = false;
    if (other.sockets > 0) machine.sockets = other.sockets;
  }
  take_if_unset(machine.sockets, other.sockets);
  take_if_unset(machine.cores, other.cores);
}

/// Fills everything that `machine` lacks and `other` has; remarks and warnings of both are kept.
void take_missing(Machine& machine, const Machine& other) {
  // Numbers of GPUs mean the same only where both files have equally many.
  if (!machine.tells_nvlinks && other.tells_nvlinks && gpus_of(machine) == gpus_of(other)) {
    machine.nvlinks = other.nvlinks;
    machine.tells_nvlinks = true;
  }
  take_adapters(machine, other);
  machine.lists_devices = machine.lists_devices || other.lists_devices;
  take_if_unset(machine.sockets_on, other.sockets_on);
  take_if_unset(machine.peer_access, other.peer_access);
  take_if_unset(machine.gpu_count, other.gpu_count);
  take_product(machine, other);
  take_if_unset(machine.gpu_memory, other.gpu_memory);
  take_if_unset(machine.cpu_model, other.cpu_model);
  take_if_unset(machine.family, other.family);
  take_cores(machine, other);
  take_if_unset(machine.memory, other.memory);
  take_fabric(machine.fabric, other.fabric);
  take_if_unset(machine.host_adapters, other.host_adapters);
  take_site(machine.site, other.site);
  machine.remarks.insert(machine.remarks.end(), other.remarks.begin(), other.remarks.end());
  machine.doubts.insert(machine.doubts.end(), other.doubts.begin(), other.doubts.end());
  machine.has_no_gpu = machine.has_no_gpu && other.has_no_gpu;
  machine.graphs.insert(machine.graphs.end(), other.graphs.begin(), other.graphs.end());
}

/// Merges NUMA nodes into sockets, where another file says that the sockets are fewer (as with NPS4).
/// Numbers of NUMA nodes go up from socket to socket, so equal ranges of them are a socket. Nothing is merged
/// unless every NUMA node has a number.
void merge_numa_nodes(Machine& machine) {
  const std::vector<int> nodes = machine.of_kind(PartKind::socket);
  const int sockets = machine.sockets;
  if (sockets < 1 || std::ssize(nodes) <= sockets) return;
  int last = -1;
  for (const int node : nodes) {
    if (machine.parts[index(node)].numa < 0) return;
    last = std::max(last, machine.parts[index(node)].numa);
  }
  // This is the number of NUMA nodes of a socket, rounded up.
  const int per_socket = (last + sockets) / sockets;
  std::vector<int> moved(machine.parts.size(), -1), socket_at(index(sockets), -1);
  std::vector<MachinePart> parts;
  for (std::size_t i = 0; i < machine.parts.size(); ++i) {
    const MachinePart& part = machine.parts[i];
    // The NUMA nodes of a socket share one entry; other parts have an entry each.
    int& at = part.kind == PartKind::socket ? socket_at[index(part.numa / per_socket)] : moved[i];
    if (at < 0) {
      at = static_cast<int>(parts.size());
      parts.push_back(part);
      if (part.parent >= 0) parts.back().parent = moved[index(part.parent)];
    }
    moved[i] = at;
  }
  machine.remarks.push_back(
      fmt::format("{} of {}", counted(std::ssize(nodes), "NUMA node"), counted(sockets, "socket")));
  machine.parts = std::move(parts);
}

/// Throws InputError with all files whose GPUs contradict those of `base` in number or product.
void refuse_other_counts(const Machine& base, const std::vector<Machine>& machines) {
  std::vector<Diagnostic> mistakes;
  for (const Machine& machine : machines) {
    const bool tells_gpus = gpus_of(machine) > 0 || machine.has_no_gpu;
    if (tells_gpus && gpus_of(machine) != gpus_of(base)) mistakes.push_back(contradiction(machine, base));
    if (are_different_products(machine.gpu_product, base.gpu_product))
      mistakes.push_back(other_product(machine, base));
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

/// Throws InputError for files that hold only NCCL's channels: they describe no machine.
[[noreturn]] void refuse_graphs_alone(const Machine& machine) {
  throw InputError({{machine.place.file,
                     {machine.place.line, 1, 1},
                     "",
                     "channels that NCCL found, and no machine that they are of",
                     "give the file of NCCL_TOPO_DUMP_FILE, or another of the node, beside it"}});
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

bool are_different_products(std::string_view one, std::string_view other) {
  const std::vector<std::string> a = product_numbers(one), b = product_numbers(other);
  const auto is_common = [&b](const std::string& word) {
    return std::ranges::any_of(b, [&word](const std::string& its) {
      // A number may be the beginning of another, as "2080" of "2080ti".
      return its.starts_with(word) || word.starts_with(its);
    });
  };
  return !a.empty() && !b.empty() && std::ranges::none_of(a, is_common) && !holds_either(one, other);
}

Machine joined_node(const std::vector<Machine>& machines) {
  const auto devices = [](const Machine& machine) { return machine.parts.size(); };
  if (std::ranges::all_of(machines, [](const Machine& machine) { return !machine.graphs.empty(); }))
    refuse_graphs_alone(machines.front());
  // The file that places most devices is the base.
  Machine out = *std::ranges::max_element(machines, {}, devices);
  if (out.parts.empty() || gpus_of(out) == 0) {
    // A network's file may place more devices than the node's; GPUs decide then.
    out = *std::ranges::max_element(machines, {}, gpus_of);
  }
  refuse_other_counts(out, machines);
  for (const Machine& machine : machines) {
    // The base itself is among the files; it is told by its place.
    if (machine.place != out.place) take_missing(out, machine);
  }
  merge_numa_nodes(out);
  return out;
}

}  // namespace foretrain

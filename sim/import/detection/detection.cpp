// sysfs is the base, since every Linux has it. The other sources fill in what it does not say.
// NVLinks come from NVML alone.
// The order matters: processors make the sockets, and the PCI bus hangs its devices at them, with the help of
// hwloc where sysfs gives no NUMA node. NVML then finds its GPUs by address, and Slurm adds the other nodes
// last.
#include "sim/import/detection/detection.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/import/detection/hwloc_library.hpp"
#include "sim/import/detection/nvml_facts.hpp"
#include "sim/import/detection/pci_bus.hpp"
#include "sim/import/detection/processors.hpp"
#include "sim/import/detection/slurm_site.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/import/machines/readers.hpp"

namespace foretrain {

namespace {

/// Returns the name of this host, or words for it when the system gives none.
std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "this machine";
}

/// Returns the socket of each device of a machine, by PCI address; sockets are counted from 0 in the order of
/// the parts.
std::map<std::string, int> sockets_in(const Machine& machine) {
  const std::vector<int> sockets = machine.of_kind(PartKind::socket);
  std::map<std::string, int> out;
  for (const MachinePart& part : machine.parts) {
    // The walk up the tree ends at a socket, or at -1 for parts that have none.
    int up = part.parent;
    while (up >= 0 && machine.parts[static_cast<std::size_t>(up)].kind != PartKind::socket)
      up = machine.parts[static_cast<std::size_t>(up)].parent;
    if (up >= 0 && !part.bus.empty())
      out[part.bus] = static_cast<int>(std::ranges::find(sockets, up) - sockets.begin());
  }
  return out;
}

/// Runs the stages of the detection on one machine and collects what was not seen.
class Detector {
 public:
  explicit Detector(const std::string& root) : is_here_(root.empty()), tree_(is_here_ ? "/" : root) {
    out_.machine.place.file = is_here_ ? host_name() : root;
    out_.machine.format = "sysfs";
  }

  DetectedMachine detect() {
    const Machine hwloc = is_here_ ? hwloc_machine() : Machine{};
    const std::map<int, int> part_of_numa = add_processors(out_.machine, tree_);
    refuse_nothing();
    // Numbers of sockets from hwloc mean the same only where both sources count equally many.
    const bool is_alike = hwloc.of_kind(PartKind::socket).size() == part_of_numa.size();
    add_pci_bus(out_.machine, tree_, part_of_numa,
                is_alike ? sockets_in(hwloc) : std::map<std::string, int>());
    take_hwloc(hwloc);
    if (is_here_) {
      ask_nvml();
      ask_slurm();
    } else {
      unseen("NVML, hwloc and Slurm: the files of another machine are read alone; NVLinks are assumed");
    }
    if (tree_.entries("sys/bus/pci/devices").empty())
      unseen("the PCI bus (sys/bus/pci is not here): GPUs and adapters");
    return std::move(out_);
  }

 private:
  void unseen(std::string what) { out_.unseen.push_back(std::move(what)); }

  /// Throws InputError when the folder has neither cores nor memory, since it is no copy of a machine then.
  void refuse_nothing() const {
    if (out_.machine.cores > 0 || out_.machine.memory.count > 0) return;
    throw InputError(out_.machine.place.file + ": nothing of a machine is in this folder",
                     "it must hold sys/devices/system/cpu and proc/meminfo");
  }

  /// Reads hwloc's topology of this machine by the reader of lstopo's XML. Returns a machine without parts
  /// when there is none.
  Machine hwloc_machine() {
    const HwlocXmlText xml = hwloc_xml_of_machine();
    if (!xml.missing.empty()) {
      unseen(fmt::format("hwloc ({}): PCIe and NUMA nodes as Linux itself shows them", xml.missing));
      return {};
    }
    try {
      return read_machine({"hwloc", xml.text});
    } catch (const InputError& error) {
      unseen("hwloc: " + error.first_message());
      return {};
    }
  }

  /// Takes hwloc's whole tree where sysfs shows no GPU but hwloc does. Otherwise only fills what sysfs left
  /// empty: cores, model and family of the CPU.
  void take_hwloc(const Machine& hwloc) {
    if (hwloc.parts.empty()) return;
    Machine& machine = out_.machine;
    machine.format += ", hwloc";
    if (gpus_of(machine) == 0 && gpus_of(hwloc) > 0) {
      machine.parts = hwloc.parts;
      machine.nvlinks = hwloc.nvlinks;
      machine.tells_nvlinks = hwloc.tells_nvlinks;
    }
    if (machine.cores == 0) machine.cores = hwloc.cores;
    if (machine.cpu_model.empty()) machine.cpu_model = hwloc.cpu_model;
    if (!machine.family) machine.family = hwloc.family;
  }

  /// Adds NVLinks, clocks and memory of NVIDIA's GPUs.
  void ask_nvml() {
    const NvmlFacts facts = nvml_facts();
    if (!facts.missing.empty())
      return unseen(fmt::format("NVML ({}): NVLinks, clocks and memory of NVIDIA's GPUs", facts.missing));
    add_nvml(out_.machine, facts);
    out_.machine.format += ", NVML";
  }

  /// Adds the nodes, partitions and switches that Slurm lists. A text that cannot be read is listed as
  /// unseen.
  void ask_slurm() {
    const SlurmSite site = slurm_site(host_name());
    for (const std::string& what : site.missing) unseen(what);
    std::vector<Machine> told;
    for (const SourceText& text : site.texts) {
      try {
        told.push_back(read_machine(text));
      } catch (const InputError& error) {
        unseen(fmt::format("{}: {}", text.name, error.first_message()));
      }
    }
    // The texts are read before any is taken, because taking one may replace the machine.
    for (Machine& other : told) take_slurm(std::move(other));
  }

  /// Joins what Slurm says with this machine. A login node has no GPU: the nodes that Slurm lists are
  /// described instead of it.
  /// Nodes with another number of GPUs than this machine are not joined.
  void take_slurm(Machine other) {
    Machine& machine = out_.machine;
    if (gpus_of(machine) == 0 && gpus_of(other) > 0) {
      take_network(other);
      other.place.file = fmt::format("{} on {}", other.place.file, machine.place.file);
      other.remarks.push_back(fmt::format(
          "{} itself has no GPU: Slurm's nodes are described, of which only their numbers are known",
          machine.place.file));
      machine = std::move(other);
      return;
    }
    if (gpus_of(other) > 0 && gpus_of(other) != gpus_of(machine)) {
      unseen(fmt::format("Slurm's nodes: those told have {}, this one {}", counted(gpus_of(other), "GPU"),
                         gpus_of(machine)));
      return;
    }
    machine.format += ", " + other.format;
    machine = joined({machine, other});
  }

  /// Gives Slurm's nodes the rate of this login node's InfiniBand. Login nodes usually share the InfiniBand
  /// of the compute nodes, but seldom their Ethernet.
  void take_network(Machine& other) const {
    for (const int index : out_.machine.of_kind(PartKind::adapter)) {
      const MachinePart& port = out_.machine.parts[static_cast<std::size_t>(index)];
      const AdapterModel* model = adapter_of(port.pci_device);
      if (other.fabric.gbps > 0 || port.network_gbps <= 0 || model == nullptr ||
          !model->network.starts_with("ib_"))
        continue;
      other.fabric.gbps = port.network_gbps;
      other.remarks.push_back(
          fmt::format("Its network is that of {} here: {:g} Gb/s", port.name, port.network_gbps));
    }
  }

  /// True when this machine is detected, false for the files of another.
  bool is_here_;
  FileTree tree_;
  DetectedMachine out_;
};

}  // namespace

DetectedMachine detected_machine(const std::string& root) { return Detector(root).detect(); }

}  // namespace foretrain

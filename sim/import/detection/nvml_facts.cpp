// NVML and the PCI bus number the GPUs differently, so NVML's GPUs are found in the machine by their PCI
// addresses.
#include "sim/import/detection/nvml_facts.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.hpp"

namespace foretrain {

namespace {

/// The place that warnings from NVML name.
const std::string kNvmlPlace = "NVML";
/// A GPU whose limit is below this share of its own maximum gets a warning.
constexpr double kHeldBack = 0.95;

/// Adds NVML's facts to one machine.
class NvmlMerge {
 public:
  NvmlMerge(Machine& machine, const NvmlFacts& facts) : machine_(machine), facts_(facts) {}

  /// Places GPUs that sysfs did not show, numbers all GPUs, and adds each one's facts.
  void add_all() {
    if (facts_.gpus.empty()) return;
    place_unseen();
    const std::vector<int> placed = machine_.of_kind(PartKind::gpu);
    for (std::size_t i = 0; i < placed.size(); ++i)
      number_of_[machine_.parts[static_cast<std::size_t>(placed[i])].bus] = static_cast<int>(i);
    for (const NvmlGpu& gpu : facts_.gpus) take(gpu);
    take_common();
  }

 private:
  /// Places all GPUs where sysfs shows none, as in some containers. Where sysfs shows more than NVML, a
  /// remark says so.
  void place_unseen() {
    if (!machine_.of_kind(PartKind::gpu).empty()) {
      const auto seen = machine_.of_kind(PartKind::gpu).size();
      if (facts_.gpus.size() < seen)
        machine_.remarks.push_back(
            fmt::format("NVML shows {} of the {} on the PCI bus: the others may be another job's",
                        facts_.gpus.size(), counted(static_cast<std::int64_t>(seen), "GPU")));
      return;
    }
    const std::vector<int> sockets = machine_.of_kind(PartKind::socket);
    for (std::size_t i = 0; i < facts_.gpus.size() && !sockets.empty(); ++i) {
      MachinePart part{PartKind::gpu, sockets[i * sockets.size() / facts_.gpus.size()]};
      part.bus = facts_.gpus[i].bus;
      machine_.parts.push_back(std::move(part));
    }
    machine_.remarks.push_back("GPUs that NVML alone shows are spread over the sockets");
  }

  /// Adds the facts of one GPU; a GPU that the machine does not have is skipped.
  void take(const NvmlGpu& gpu) {
    const auto number = number_of_.find(gpu.bus);
    if (number == number_of_.end()) return;
    const int part_index = machine_.of_kind(PartKind::gpu)[static_cast<std::size_t>(number->second)];
    MachinePart& part = machine_.parts[static_cast<std::size_t>(part_index)];
    if (!gpu.product.empty()) part.name = gpu.product;
    part.compute_capability = gpu.compute_capability;
    machine_.tells_nvlinks = machine_.tells_nvlinks || gpu.tells_nvlinks;
    add_links(gpu, number->second);
    judge(gpu, fmt::format("gpu{}", number->second));
  }

  /// Adds the NVLinks of a GPU, summed by far end; -1 stands for an NVSwitch.
  /// Both GPUs of a link report it, so it counts at the lower number only.
  void add_links(const NvmlGpu& gpu, int number) {
    std::map<int, int> count_to;
    for (const NvmlLink& link : gpu.nvlinks) {
      const auto other = link.to.empty() ? number_of_.end() : number_of_.find(link.to);
      const int to = other == number_of_.end() ? -1 : other->second;
      if (to < 0 || to > number) ++count_to[to];
    }
    for (const auto& [to, count] : count_to) machine_.nvlinks.push_back({number, to, count});
  }

  /// Adds warnings about what slows this GPU down or what the description does not cover.
  void judge(const NvmlGpu& gpu, const std::string& name) {
    if (gpu.held_clock_mhz > 0 && gpu.held_clock_mhz < kHeldBack * gpu.clock_mhz)
      doubt(fmt::format("{} is held at {} of its {} MHz", name, gpu.held_clock_mhz, gpu.clock_mhz),
            "`nvidia-smi -q -d CLOCK`; `nvidia-smi -rac` lifts it; a slow GPU sets the pace of all");
    if (gpu.power_w > 0 && gpu.power_w < kHeldBack * gpu.usual_power_w)
      doubt(fmt::format("{} may take {:g} W of its {:g} W", name, gpu.power_w, gpu.usual_power_w),
            "`nvidia-smi -q -d POWER`; predictions take the product's power");
    if (gpu.nvlinks_down > 0 && !gpu.nvlinks.empty())
      doubt(fmt::format("{} of the {} of {} are down", gpu.nvlinks_down,
                        counted(gpu.nvlinks_down + static_cast<std::int64_t>(gpu.nvlinks.size()), "NVLink"),
                        name),
            "`nvidia-smi nvlink -s`; a reset of the GPU, or its board, brings them back");
    if (gpu.is_sliced)
      doubt(fmt::format("{} is cut into slices (MIG)", name),
            "this file describes the whole GPU; a job in a slice has a share of it");
  }

  /// Adds a warning with the advice that goes with it.
  void doubt(std::string what, std::string hint) {
    machine_.doubts.push_back({{kNvmlPlace, 0}, std::move(what), std::move(hint)});
  }

  /// Takes what the machine holds once for all GPUs, from the first one. A remark names products that differ.
  void take_common() {
    machine_.gpu_product = facts_.gpus.front().product;
    machine_.gpu_memory = facts_.gpus.front().memory;
    if (facts_.peer_access) machine_.peer_access = facts_.peer_access;
    int fastest = 0;
    for (const NvmlGpu& gpu : facts_.gpus) fastest = std::max(fastest, gpu.clock_mhz);
    if (fastest > 0) machine_.remarks.push_back(fmt::format("GPUs reach {} MHz", fastest));
    for (const NvmlGpu& gpu : facts_.gpus) {
      if (gpu.product != facts_.gpus.front().product)
        return machine_.remarks.push_back(fmt::format("\"{}\" beside \"{}\": one kind of GPU stands for both",
                                                      gpu.product, facts_.gpus.front().product));
    }
  }

  Machine& machine_;
  const NvmlFacts& facts_;
  /// Number of a GPU in the machine, by its PCI address.
  std::map<std::string, int> number_of_;
};

}  // namespace

void add_nvml(Machine& machine, const NvmlFacts& facts) { NvmlMerge(machine, facts).add_all(); }

}  // namespace foretrain

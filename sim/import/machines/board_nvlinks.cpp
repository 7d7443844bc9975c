// Eight V100 are a hybrid cube mesh on one board and behind NVSwitches on another, so no formula gives their
// links. The node templates of the catalog know the common boards.
#include "sim/import/machines/board_nvlinks.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "sim/import/logs/log_lines.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// Up to this many GPUs, boards link every pair directly.
constexpr int kMostMeshed = 4;

/// Returns the board without its size of memory: "v100-sxm2-32gb" and "v100-sxm2-16gb" are the same.
std::string_view board_of(std::string_view gpu) {
  return gpu.ends_with("gb") ? gpu.substr(0, gpu.rfind('-')) : gpu;
}

/// Returns the number behind a prefix, as in "gpu3"; no value for other devices.
std::optional<int> number_behind(std::string_view device, std::string_view kind) {
  if (!device.starts_with(kind)) return std::nullopt;
  const auto number = integer_of(device.substr(kind.size()));
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// Returns the NVLinks of a template. Empty when it has other links than the GPU's own between GPUs or to one
/// NVSwitch.
std::vector<MachineNvlinks> nvlinks_of(const NodeSpec& node, const Gpu& gpu) {
  std::vector<MachineNvlinks> out;
  for (const NodeLink& link : node.links) {
    if (link.type.kind != LinkKind::nvlink) continue;
    const auto a = number_behind(link.a, "gpu"), b = number_behind(link.b, "gpu");
    const bool to_switch = link.b == "nvswitch0";
    if (!a || (!b && !to_switch) || link.type.name != gpu.ports.nvlink) return {};
    out.push_back(to_switch ? MachineNvlinks{*a, -1, link.count}
                            : MachineNvlinks{std::min(*a, *b), std::max(*a, *b), link.count});
  }
  return out;
}

}  // namespace

std::vector<MachineNvlinks> board_nvlinks(const Gpu& gpu, int gpus) {
  for (const std::string& name : names_in(CatalogKind::nodes)) {
    const NodeSpec node = open_value(CatalogKind::nodes, name, read_node_template);
    if (node.gpus != gpus || board_of(node.gpu.name) != board_of(gpu.name)) continue;
    if (std::vector<MachineNvlinks> links = nvlinks_of(node, gpu); !links.empty()) return links;
  }
  // AMD's boards have no such switches.
  const bool is_switched = gpus > kMostMeshed && !is_amd(gpu.architecture);
  std::vector<MachineNvlinks> out;
  for (int a = 0; a < gpus; ++a) {
    if (is_switched) out.push_back({a, -1, gpu.ports.nvlinks});
    for (int b = a + 1; b < gpus && !is_switched; ++b)
      // Every GPU shares its links evenly over the others, with at least one for each.
      out.push_back({a, b, std::max(gpu.ports.nvlinks / (gpus - 1), 1)});
  }
  return out;
}

}  // namespace foretrain

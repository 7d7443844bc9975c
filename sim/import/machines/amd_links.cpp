// Pairs are compared as sets, numbers of GPUs as they stand.
#include "sim/import/machines/amd_links.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "sim/import/logs/log_lines.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

using PairCounts = std::map<std::pair<int, int>, int>;
constexpr int kMostLinksOfPair = 64;

int gpu_number(std::string_view device) {
  return device.starts_with("gpu") ? static_cast<int>(integer_of(device.substr(3)).value_or(-1)) : -1;
}

PairCounts pairs_of_template(const NodeSpec& node) {
  PairCounts out;
  for (const NodeLink& link : node.links) {
    const int a = gpu_number(link.a), b = gpu_number(link.b);
    if (link.type.kind == LinkKind::nvlink && a >= 0 && b >= 0) out[std::minmax(a, b)] = link.count;
  }
  return out;
}

/// A template with AMD's GPUs in these pairs.
struct JoinedNode {
  std::string gpu;
  PairCounts counts;
};

std::optional<JoinedNode> node_joined_as(const std::vector<MachineNvlinks>& pairs, int gpus) {
  for (const std::string& name : names_in(CatalogKind::nodes)) {
    const NodeSpec node = open_value(CatalogKind::nodes, name, read_node_template);
    if (!is_amd(node.gpu.architecture) || node.gpus != gpus) continue;
    const PairCounts counts = pairs_of_template(node);
    const bool has_all = std::ranges::all_of(pairs, [&](const MachineNvlinks& link) {
      return counts.contains(std::minmax(link.gpu, link.other));
    });
    if (has_all && counts.size() == pairs.size()) return JoinedNode{node.gpu.name, counts};
  }
  return std::nullopt;
}

int neighbours_of(const std::vector<MachineNvlinks>& links, int gpu) {
  return static_cast<int>(std::ranges::count_if(
      links, [gpu](const MachineNvlinks& link) { return link.gpu == gpu || link.other == gpu; }));
}

}  // namespace

std::string amd_gpu_joined_as(const std::vector<MachineNvlinks>& pairs, int gpus) {
  if (pairs.empty()) return "mi210";  // of the catalog's, the one that also comes without a bridge
  if (const auto node = node_joined_as(pairs, gpus)) return node->gpu;
  const int neighbours = neighbours_of(pairs, 0);
  if (neighbours >= 7) return "mi300x";
  return gpus > 4 && neighbours > 3 ? "mi250x" : "mi100";  // bridges join up to four cards
}

void settle_amd_links(std::vector<MachineNvlinks>& links, const Gpu& gpu, int gpus) {
  if (!is_amd(gpu.architecture)) return;
  const auto node = node_joined_as(links, gpus);
  std::vector<int> counts;
  for (const MachineNvlinks& link : links) {
    const int busiest = std::max(neighbours_of(links, link.gpu), neighbours_of(links, link.other));
    const bool is_known = node && node->gpu == gpu.name;
    const int usual = is_known ? node->counts.at(std::minmax(link.gpu, link.other))
                               : gpu.ports.nvlinks / std::max(busiest, 1) / 2 * 2;
    counts.push_back(std::clamp(link.count > 0 ? 2 * link.count : usual, 1, kMostLinksOfPair));
  }
  for (std::size_t i = 0; i < links.size(); ++i) links[i].count = counts[i];
}

}  // namespace foretrain

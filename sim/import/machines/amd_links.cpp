// Node templates of the catalog are compared with a file's pairs as sets; GPUs must have the same numbers in
// both.
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

/// Number of links by pair of GPUs, the lower number first.
using PairCounts = std::map<std::pair<int, int>, int>;
/// Limit of links of one pair.
constexpr int kMostLinksOfPair = 64;

/// Returns the number of "gpu3", or -1 for other devices.
int gpu_number(std::string_view device) {
  return device.starts_with("gpu") ? static_cast<int>(integer_of(device.substr(3)).value_or(-1)) : -1;
}

/// Returns the direct links between GPUs of a template; links to switches and hosts are left out.
PairCounts pairs_of_template(const NodeSpec& node) {
  PairCounts out;
  for (const NodeLink& link : node.links) {
    const int a = gpu_number(link.a), b = gpu_number(link.b);
    if (link.type.kind == LinkKind::nvlink && a >= 0 && b >= 0) out[std::minmax(a, b)] = link.count;
  }
  return out;
}

/// A template with AMD's GPUs that are linked in the given pairs.
struct JoinedNode {
  std::string gpu;
  PairCounts counts;
};

/// Returns the first template with as many AMD GPUs and exactly these pairs; no value when there is none.
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

/// Returns the number of GPUs that a GPU is linked to.
int neighbours_of(const std::vector<MachineNvlinks>& links, int gpu) {
  return static_cast<int>(std::ranges::count_if(
      links, [gpu](const MachineNvlinks& link) { return link.gpu == gpu || link.other == gpu; }));
}

}  // namespace

std::string amd_gpu_joined_as(const std::vector<MachineNvlinks>& pairs, int gpus) {
  // GPUs without links have no bridge; the MI210 is the catalog's only one that is sold so.
  if (pairs.empty()) return "mi210";
  if (const auto node = node_joined_as(pairs, gpus)) return node->gpu;
  const int neighbours = neighbours_of(pairs, 0);
  // Seven neighbours are a board of eight GPUs that are all linked to each other.
  if (neighbours >= 7) return "mi300x";
  // Bridges join up to four cards, so more GPUs with more neighbours are on a board.
  return gpus > 4 && neighbours > 3 ? "mi250x" : "mi100";
}

void settle_amd_links(std::vector<MachineNvlinks>& links, const Gpu& gpu, int gpus) {
  if (!is_amd(gpu.architecture)) return;
  const auto node = node_joined_as(links, gpus);
  // The counts are collected first, because neighbours are counted over the unchanged links.
  std::vector<int> counts;
  for (const MachineNvlinks& link : links) {
    const int busiest = std::max(neighbours_of(links, link.gpu), neighbours_of(links, link.other));
    const bool is_known = node && node->gpu == gpu.name;
    // The share of the GPU's links is rounded down to an even number, as a link is two halves of the catalog.
    const int usual = is_known ? node->counts.at(std::minmax(link.gpu, link.other))
                               : gpu.ports.nvlinks / std::max(busiest, 1) / 2 * 2;
    counts.push_back(std::clamp(link.count > 0 ? 2 * link.count : usual, 1, kMostLinksOfPair));
  }
  for (std::size_t i = 0; i < links.size(); ++i) links[i].count = counts[i];
}

}  // namespace foretrain

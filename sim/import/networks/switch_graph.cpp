// Derives a fabric from switches and cables. Sets by name count a cable once that both ends list.
#include "sim/import/networks/switch_graph.hpp"

#include <algorithm>
#include <array>

#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Limits on what one file may make the program hold; entries beyond them are dropped.
constexpr std::size_t kMostSwitches = 100'000, kMostAdapterHosts = 100'000, kMostAdaptersOfHost = 64;

}  // namespace

void SwitchGraph::add_host(const std::string& switch_name, const std::string& host, double gbps) {
  if (switches_.size() >= kMostSwitches && !switches_.contains(switch_name)) return;
  switches_[switch_name].hosts.insert(host);
  if (gbps > 0) ++rates_[gbps];
}

void SwitchGraph::add_adapter(const std::string& host, const std::string& id, const std::string& name) {
  if (adapters_.size() >= kMostAdapterHosts && !adapters_.contains(host)) return;
  std::map<std::string, std::string>& own = adapters_[host];
  if (own.size() < kMostAdaptersOfHost) own.emplace(id, name);
}

/// Hosts differ where a few have more ports or lost one, so the number of ports that most hosts have is
/// taken.
std::vector<std::string> SwitchGraph::adapters() const {
  std::map<std::size_t, int> hosts_with;
  for (const auto& [host, ports] : adapters_) ++hosts_with[ports.size()];
  std::size_t usual = 0;
  for (const auto& [count, hosts] : hosts_with) {
    if (usual == 0 || hosts >= hosts_with[usual]) usual = count;
  }
  std::vector<std::string> out;
  for (const auto& [host, ports] : adapters_) {
    if (ports.size() != usual) continue;
    for (const auto& [id, name] : ports) out.push_back(name);
    std::ranges::sort(out);
    break;
  }
  return out;
}

void SwitchGraph::add_link(const std::string& switch_name, const std::string& other,
                           const std::string& port) {
  if (switches_.size() >= kMostSwitches && !switches_.contains(switch_name)) return;
  switches_[switch_name].links[other].insert(port);
}

/// Returns the number of levels by a breadth-first search from all leaves, linear in switches and cables.
int SwitchGraph::levels() const {
  std::map<std::string, int> level_of;
  std::vector<std::string> here;
  for (const auto& [name, node] : switches_) {
    if (node.hosts.empty()) continue;
    level_of[name] = 1;
    here.push_back(name);
  }
  std::map<std::string, std::set<std::string>> neighbours;
  for (const auto& [name, node] : switches_) {
    for (const auto& [other, ports] : node.links)
      neighbours[name].insert(other), neighbours[other].insert(name);
  }
  int deepest = here.empty() ? 0 : 1;
  while (!here.empty()) {
    std::vector<std::string> next;
    for (const std::string& name : here) {
      for (const std::string& other : neighbours[name]) {
        if (!level_of.emplace(other, level_of[name] + 1).second) continue;
        deepest = std::max(deepest, level_of[other]);
        next.push_back(other);
      }
    }
    here = std::move(next);
  }
  return deepest;
}

/// Handles several leaves without a switch above them. Cables between the leaves carry what a spine would, so
/// they count as uplinks. Without cables the file does not show what joins the leaves.
void SwitchGraph::join_leaves(MachineFabric& fabric) const {
  const auto has_hosts = [](const auto& entry) { return !entry.second.hosts.empty(); };
  if (fabric.levels != 1 || std::ranges::count_if(switches_, has_hosts) < 2) return;
  fabric.levels = 2;
  for (const auto& [name, node] : switches_) {
    int cables = 0;
    for (const auto& [other, ports] : node.links) cables += static_cast<int>(ports.size());
    fabric.uplinks_per_leaf = std::max(fabric.uplinks_per_leaf, cables);
  }
}

/// Uplinks of a leaf are its cables to switches that are no leaves. The largest numbers count, because a leaf
/// may not be fully wired.
MachineFabric SwitchGraph::fabric() const {
  MachineFabric out;
  std::set<std::string> hosts;
  for (const auto& [name, node] : switches_) {
    hosts.insert(node.hosts.begin(), node.hosts.end());
    if (node.hosts.empty()) continue;
    int uplinks = 0;
    for (const auto& [other, ports] : node.links) {
      const auto above = switches_.find(other);
      const bool is_leaf = above != switches_.end() && !above->second.hosts.empty();
      if (!is_leaf) uplinks += static_cast<int>(ports.size());
    }
    out.nodes_per_leaf = std::max(out.nodes_per_leaf, static_cast<int>(node.hosts.size()));
    out.uplinks_per_leaf = std::max(out.uplinks_per_leaf, uplinks);
  }
  out.nodes = static_cast<int>(hosts.size());
  out.levels = levels();
  join_leaves(out);
  if (!rates_.empty())
    out.gbps = std::ranges::max_element(rates_, {}, [](const auto& rate) { return rate.second; })->first;
  return out;
}

/// Returns the rate of four lanes by its name; 1x and 2x are a quarter and a half of it.
double infiniband_gbps(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 9> kRates{{{"SDR", 10},
                                                                       {"DDR", 20},
                                                                       {"QDR", 40},
                                                                       {"FDR10", 40},
                                                                       {"FDR", 56},
                                                                       {"EDR", 100},
                                                                       {"HDR", 200},
                                                                       {"NDR", 400},
                                                                       {"XDR", 800}}};
  for (const auto& [name, gbps] : kRates) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) continue;
    const bool is_one_lane = at >= 2 && text.substr(0, at).find("1x") != std::string_view::npos;
    const bool is_two_lanes = text.substr(0, at).find("2x") != std::string_view::npos;
    return is_one_lane ? gbps / 4 : is_two_lanes ? gbps / 2 : gbps;
  }
  return 0;
}

}  // namespace foretrain

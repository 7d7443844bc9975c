// Text from other people's files goes into TOML only without the characters that could end a TOML string.
#include "sim/import/machines/cluster_sections.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cpu_models.hpp"
#include "sim/scenario/schema/cluster_keys.hpp"

namespace foretrain {

namespace {

/// Limit of the cores that the schema of cluster files accepts.
constexpr int kMostHostCores = 1024;

/// Removes quotes, backslashes and control characters, and makes the rest printable.
std::string toml_text(std::string text) {
  std::erase_if(
      text, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' || c == 127; });
  return printable(text);
}

/// Says whether [site] accepts a text as a name: letters, digits and "_.+-", at most 200 bytes.
bool is_site_word(std::string_view text) {
  const auto is_taken = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.+-").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= 200 && std::ranges::all_of(text, is_taken);
}

/// Returns a time limit such as "72 h" or "90 min"; seconds are dropped.
std::string time_limit_text(Time longest) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(longest).count();
  return minutes % 60 == 0 ? fmt::format("{} h", minutes / 60) : fmt::format("{} min", minutes);
}

/// Writes a partition with those limits that are known.
void add_partition(ClusterText& out, const Partition& partition) {
  out.section("[[site.partitions]]");
  out.add("name", quoted_text(partition.name));
  if (partition.least_nodes > 0) out.add("least_nodes", std::to_string(partition.least_nodes));
  if (partition.most_nodes > 0) out.add("most_nodes", std::to_string(partition.most_nodes));
  if (partition.longest > Time::zero()) out.add("longest", quoted_text(time_limit_text(partition.longest)));
  if (partition.whole_nodes) out.add("whole_nodes", "true");
}

}  // namespace

void add_host_section(ClusterText& out, const Machine& machine, const Host& like) {
  out.section("[node.host]");
  if (!machine.cpu_model.empty()) out.add("cpu", quoted_text(toml_text(machine.cpu_model)));
  for (const auto& family : host_families()) {
    // Every family has one name in the schema; the loop finds that of this machine.
    if (family.value == machine.family.value_or(like.family))
      out.add("family", quoted_text(family.name), machine.family ? "" : "assumed");
  }
  out.add("cores", std::to_string(std::min(machine.cores, kMostHostCores)));
  // The catalog of CPUs gives the speed of one core; without an entry that of the template is assumed.
  const CpuModel* cpu = find_cpu(machine.cpu_model);
  out.add("slowdown", fmt::format("{:g}", cpu == nullptr ? like.slowdown : cpu->slowdown),
          cpu == nullptr ? "assumed: single-thread time against a Zen 5 core, docs/models/host.md"
                         : "of this CPU in `foretrain list cpus`");
  const bool is_known = machine.memory.count > 0;
  out.add("memory", quoted_text(to_string(is_known ? machine.memory : like.memory)),
          is_known ? "" : "assumed");
  // No tool prints the bandwidth of one core's copy, so that of the template is always assumed.
  out.add("memory_bandwidth", quoted_text(to_string(like.memory_bandwidth)), "assumed: memcpy of one core");
}

void add_fabric_section(ClusterText& out, const MachineFabric& fabric, const std::string& network,
                        const std::string& because) {
  out.section("[fabric]");
  // A fat tree needs at least two levels of switches and the size of a leaf.
  if (fabric.levels >= 2 && fabric.nodes_per_leaf > 0) {
    out.add("kind", "\"fat_tree\"", fabric.levels > 2 ? "assumed: two levels; the files show more" : "");
    out.add("nodes_per_leaf", std::to_string(fabric.nodes_per_leaf));
    const bool is_known = fabric.uplinks_per_leaf > 0;
    out.add("uplinks_per_leaf", std::to_string(is_known ? fabric.uplinks_per_leaf : fabric.nodes_per_leaf),
            is_known ? "" : "assumed: as many as down");
  } else {
    // A switch that never blocks is assumed where no file shows levels of switches.
    out.add("kind", "\"star\"", fabric.levels == 1 ? "" : "assumed: one switch that never blocks");
  }
  out.add("link", quoted_text(network), because);
  out.add("switch_latency", "\"0.3 us\"", "assumed");
}

void add_request_keys(ClusterText& out, const Site& site) {
  if (is_site_word(site.gpu_type)) out.add("gpu_type", quoted_text(site.gpu_type));
  std::vector<std::string> features;
  for (const std::string& feature : site.constraints) {
    if (is_site_word(feature)) features.push_back(quoted_text(feature));
  }
  if (!features.empty()) out.add_list("constraints", features);
}

void add_partitions_of_kinds(ClusterText& out, const std::vector<Partition>& partitions) {
  for (const Partition& partition : partitions) {
    if (!is_site_word(partition.name)) continue;
    add_partition(out, partition);
    if (partition.is_default) out.add("default", "true");
    std::vector<std::string> kinds;
    for (const std::string& kind : partition.kinds) kinds.push_back(quoted_text(kind));
    if (!kinds.empty()) out.add_list("kinds", kinds);
  }
}

void add_site_section(ClusterText& out, const Site& site, bool has_one_kind) {
  if (site.system == BatchSystem::none) return;
  out.section("[site]");
  out.add("batch_system", quoted_text(name_of(site.system)));
  // Partitions of several kinds name their kinds, which only the writer of the site knows.
  if (!has_one_kind) return add_request_keys(out, site);
  if (is_site_word(site.gpu_type)) out.add("gpu_type", quoted_text(site.gpu_type));
  for (const Partition& partition : site.partitions) {
    if (is_site_word(partition.name)) add_partition(out, partition);
  }
}

}  // namespace foretrain

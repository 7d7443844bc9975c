// Reads SimGrid's platform XML: hosts in zones and clusters, links with rates, and routes between zones.
// Users of the SimGrid simulator write such files by hand:
//
//   <cluster id="c" prefix="n" suffix="" radical="0-15" speed="1Gf" bw="125MBps" lat="50us"/>
//
// Hosts are nodes. A zone with hosts is a leaf switch, and what leads out of it are its uplinks. Latencies,
// speeds of hosts and the topologies without switches (torus, dragonfly) are not taken; a remark tells of the
// latter and of a backbone. A platform without a host, or a cluster without one, is reported.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/host_list.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/machines/xml_source.hpp"

namespace foretrain {

namespace {

/// Hosts of a platform, at most; more are counted as that many.
constexpr std::int64_t kMostPlatformHosts = 1'000'000;

/// Returns "125MBps", "10Gbps", "1.25GiBps" or "125000000" in Gb/s; 0 when the text is no rate. A capital B
/// means bytes, as does a number without a unit.
double platform_gbps(std::string_view text) {
  const std::string copy(text.substr(0, 60));
  char* rest = nullptr;
  const double value = std::strtod(copy.c_str(), &rest);
  std::string_view unit = trimmed(std::string_view(rest));
  double factor = 1;
  constexpr std::array<std::pair<char, int>, 5> kPrefixes{{{'k', 1}, {'K', 1}, {'M', 2}, {'G', 3}, {'T', 4}}};
  for (const auto& [letter, power] : kPrefixes) {
    if (!unit.starts_with(letter)) continue;
    const bool is_binary = unit.substr(1).starts_with("i");
    factor = std::pow(is_binary ? 1024.0 : 1000.0, power);
    unit.remove_prefix(is_binary ? 2 : 1);
    break;
  }
  if (unit != "bps" && unit != "Bps" && !unit.empty()) return 0;
  const double gbps = value * factor * (unit == "bps" ? 1 : 8) / 1e9;
  return gbps > 0 && gbps < 1e6 ? gbps : 0;
}

/// Returns how many hosts a radical such as "0-9,20,30-39" names.
std::int64_t hosts_of_radical(const std::string& radical) { return count_of_names("[" + radical + "]"); }

/// Reads topo_parameters such as "2;4,4;1,2;1,2": the number of levels, then for each level, from below, its
/// children, parents and parallel cables.
std::vector<std::vector<int>> topology_numbers(const std::string& text) {
  std::vector<std::vector<int>> out(1);
  std::string digits;
  for (const char c : text + ";") {
    if (c != ';' && c != ',') {
      digits += c;
      continue;
    }
    const auto number = integer_of(trimmed(digits));
    out.back().push_back(static_cast<int>(std::clamp<std::int64_t>(number.value_or(0), 0, 1'000'000)));
    digits.clear();
    if (c == ';') out.emplace_back();
  }
  out.pop_back();
  return out;
}

/// A zone or cluster that has hosts of its own.
struct PlatformLeaf {
  std::string name;
  // Hosts, at most kMostPlatformHosts.
  std::int64_t hosts = 0;
  // Rate of the hosts' links in Gb/s; 0: not given.
  double host_gbps = 0;
  // Rate of the backbone in Gb/s; 0: none.
  double uplink_gbps = 0;
  // Rates of single links in the zone, in Gb/s.
  std::vector<double> links{};
};

/// Walks one platform. `leaf` in visit() is the index of the zone or cluster that an element stands in.
class SimgridPlatform {
 public:
  SimgridPlatform(const SourceText& source, Diagnostics& diagnostics)
      : xml_(source, diagnostics), diagnostics_(diagnostics) {}

  /// Returns the machine of a platform. The platform itself is a leaf, too: hosts may stand outside of zones.
  Machine read(const std::string& file) {
    const pugi::xml_node platform = xml_.root("platform");
    machine_.place = {file, xml_.span_of(platform).line};
    leaves_.push_back({"platform"});
    xml_.walk(platform, 0, [this](const pugi::xml_node& node, int leaf) { return visit(node, leaf); });
    std::erase_if(leaves_, [](const PlatformLeaf& leaf) { return leaf.hosts == 0; });
    if (leaves_.empty()) {
      diagnostics_.report(xml_.span_of(platform), "no host in this platform",
                          "<host id=\"node0\" speed=\"1Gf\"/> or <cluster … radical=\"0-15\">");
      return machine_;
    }
    join_leaves();
    return std::move(machine_);
  }

 private:
  /// Takes one element and returns the leaf for the elements inside it.
  int visit(const pugi::xml_node& node, int leaf) {
    const std::string_view name = node.name();
    if (name == "zone" || name == "AS") return add_leaf(attribute_of(node, "id"));
    if (name == "cluster" || name == "cabinet") return add_cluster(node);
    PlatformLeaf& here = leaves_[static_cast<std::size_t>(leaf)];
    if (name == "host" || name == "peer") add_host(node, here);
    if (name == "link") add_link(node, here);
    if (name == "backbone") here.uplink_gbps = platform_gbps(attribute_of(node, "bandwidth"));
    if (name == "link_ctn") take_route(node);
    return leaf;
  }

  int add_leaf(std::string name) {
    leaves_.push_back({std::move(name)});
    return static_cast<int>(leaves_.size()) - 1;
  }

  static void add_host(const pugi::xml_node& host, PlatformLeaf& leaf) {
    leaf.hosts = std::min(leaf.hosts + 1, kMostPlatformHosts);
    // A peer has its own line to the network.
    if (const double gbps = platform_gbps(attribute_of(host, "bw_out")); gbps > 0) leaf.links.push_back(gbps);
  }

  void add_link(const pugi::xml_node& link, PlatformLeaf& leaf) {
    const double gbps = platform_gbps(attribute_of(link, "bandwidth"));
    // Fat pipes are loopbacks: nobody shares them.
    if (gbps <= 0 || attribute_of(link, "sharing_policy") == "FATPIPE") return;
    leaf.links.push_back(gbps);
    rate_of_[attribute_of(link, "id")] = gbps;
  }

  /// Notes the narrowest link of a route between zones, for both of its ends.
  void take_route(const pugi::xml_node& part) {
    const std::string_view above = part.parent().name();
    if (above != "zoneRoute" && above != "ASroute") return;
    const auto rate = rate_of_.find(attribute_of(part, "id"));
    if (rate == rate_of_.end()) return;
    for (const char* end : {"src", "dst"}) {
      double& gbps = route_gbps_[attribute_of(part.parent(), end)];
      gbps = gbps <= 0 ? rate->second : std::min(gbps, rate->second);
    }
  }

  /// Takes a cluster, whose hosts and links are alike and stand in its attributes.
  int add_cluster(const pugi::xml_node& cluster) {
    const int index = add_leaf(attribute_of(cluster, "id"));
    PlatformLeaf& leaf = leaves_.back();
    leaf.hosts = hosts_of_radical(attribute_of(cluster, "radical"));
    leaf.host_gbps = platform_gbps(attribute_of(cluster, "bw"));
    leaf.uplink_gbps = platform_gbps(attribute_of(cluster, "bb_bw"));
    if (leaf.hosts == 0)
      diagnostics_.report(xml_.span_of(cluster), "no host by this radical", "radical=\"0-15\" or \"0,2-7\"");
    shape_cluster(cluster);
    return index;
  }

  /// Takes the levels and widths of a fat tree. A topology without switches between nodes is described as one
  /// switch, with a remark.
  void shape_cluster(const pugi::xml_node& cluster) {
    const std::string shape = attribute_of(cluster, "topology");
    const auto numbers = topology_numbers(attribute_of(cluster, "topo_parameters"));
    if (shape.empty() || shape == "FLAT") return;
    if (shape == "FAT_TREE" && numbers.size() == 4 && numbers[1].size() > 1 && numbers[2].size() > 1 &&
        numbers[3].size() > 1) {
      machine_.fabric.levels = static_cast<int>(numbers[1].size());
      machine_.fabric.nodes_per_leaf = numbers[1][0];
      machine_.fabric.uplinks_per_leaf = std::min(numbers[2][1] * std::min(numbers[3][1], 1000), 100'000);
    } else if (shape != "FAT_TREE") {
      machine_.remarks.push_back(fmt::format("{} {} is described as one switch that never blocks", shape,
                                             attribute_of(cluster, "topo_parameters")));
    }
  }

  /// Returns the rate that most links of a leaf have; of equally frequent ones the slowest.
  static double usual_rate(const PlatformLeaf& leaf) {
    if (leaf.host_gbps > 0) return leaf.host_gbps;
    std::map<double, int> counts;
    for (const double gbps : leaf.links) ++counts[gbps];
    const auto most = std::ranges::max_element(counts, {}, [](const auto& rate) { return rate.second; });
    return most == counts.end() ? 0 : most->first;
  }

  /// Combines the leaves into one fabric. The fullest leaf gives the rate of hosts and the nodes of a leaf;
  /// the ratio of an uplink's rate to it gives the uplinks.
  void join_leaves() {
    MachineFabric& fabric = machine_.fabric;
    std::int64_t hosts = 0;
    double uplink = 0;
    const PlatformLeaf& fullest = *std::ranges::max_element(leaves_, {}, &PlatformLeaf::hosts);
    for (const PlatformLeaf& leaf : leaves_) {
      hosts = std::min(hosts + leaf.hosts, kMostPlatformHosts);
      if (const auto route = route_gbps_.find(leaf.name); route != route_gbps_.end())
        uplink = uplink <= 0 ? route->second : std::min(uplink, route->second);
    }
    fabric.nodes = static_cast<int>(hosts);
    fabric.gbps = usual_rate(fullest);
    if (fullest.uplink_gbps > 0)
      machine_.remarks.push_back(
          fmt::format("the backbone of {:g} Gb/s that all hosts of {} share is left out: switches have none",
                      fullest.uplink_gbps, fullest.name));
    if (fabric.levels > 0) return;
    fabric.levels = leaves_.size() > 1 ? 2 : 1;
    if (leaves_.size() < 2) return;
    fabric.nodes_per_leaf = static_cast<int>(std::min<std::int64_t>(fullest.hosts, 100'000));
    if (uplink > 0 && fabric.gbps > 0)
      fabric.uplinks_per_leaf = std::clamp(static_cast<int>(std::lround(uplink / fabric.gbps)), 1, 100'000);
  }

  XmlSource xml_;
  Diagnostics& diagnostics_;
  Machine machine_;
  std::vector<PlatformLeaf> leaves_;
  // Rate of each link by its name, in Gb/s.
  std::map<std::string, double> rate_of_;
  // Narrowest link of all routes of a zone, in Gb/s.
  std::map<std::string, double> route_gbps_;
};

}  // namespace

bool is_simgrid_platform(std::string_view text) { return holds(text.substr(0, 4000), "<platform"); }

Machine read_simgrid_platform(const SourceText& source, Diagnostics& diagnostics) {
  return SimgridPlatform(source, diagnostics).read(source.name);
}

}  // namespace foretrain

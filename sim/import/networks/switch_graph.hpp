// Declares a network of switches and hosts by their names, and the shape of fabric that it is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Collects switches, hosts and cables as files of network tools list them; fabric() derives the shape.
/// Entries may repeat and may come from both ends of a cable.
class SwitchGraph {
 public:
  /// Adds a host at a switch. `gbps` is the rate of the host's link; 0: not known.
  void add_host(const std::string& switch_name, const std::string& host, double gbps = 0);
  /// Adds a port of a host. `id` tells its ports apart; `name` is the adapter's, empty where no file gives
  /// it.
  void add_adapter(const std::string& host, const std::string& id, const std::string& name);
  /// Adds a cable from a switch to another one. `port` tells parallel cables apart.
  void add_link(const std::string& switch_name, const std::string& other, const std::string& port);

  bool empty() const { return switches_.empty(); }
  /// Returns the fabric. Leaves are switches with hosts. The number of levels is the distance of the farthest
  /// switch from a host, counted from 1. The rate is the most frequent one of the hosts' links.
  MachineFabric fabric() const;
  /// Returns the names of the ports of a typical host: one with the most frequent number of ports; of equally
  /// frequent numbers the larger.
  std::vector<std::string> adapters() const;

 private:
  /// The hosts at a switch and its cables.
  struct Switch {
    std::set<std::string> hosts;
    /// Ports by the name of the other switch.
    std::map<std::string, std::set<std::string>> links;
  };
  int levels() const;
  void join_leaves(MachineFabric& fabric) const;

  std::map<std::string, Switch> switches_;
  /// Names of ports by host and id.
  std::map<std::string, std::map<std::string, std::string>> adapters_;
  /// Number of host links by rate in Gb/s.
  std::map<double, int> rates_;
};

/// Returns the rate of "4x HDR", "4xEDR" or "HDR" in Gb/s; 0 when the text names none.
double infiniband_gbps(std::string_view text);

}  // namespace foretrain

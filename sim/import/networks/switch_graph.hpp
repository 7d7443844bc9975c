// Switches and hosts of a network, as names that are linked; what shape of fabric that is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Switches, hosts and cables as files of network tools list them, from which a fabric is derived.
class SwitchGraph {
 public:
  /// A cable between a switch and a host or another switch; said once or by both ends. `port` tells parallel
  /// ones apart.
  void add_host(const std::string& switch_name, const std::string& host, double gbps = 0);
  /// A port of a host: `id` tells ports apart, `name` is the adapter's, empty where no file says it.
  void add_adapter(const std::string& host, const std::string& id, const std::string& name);
  void add_link(const std::string& switch_name, const std::string& other, const std::string& port);

  bool empty() const { return switches_.empty(); }
  /// Leaves are switches with hosts. Levels: the farthest switch from a host, counted from one. Rates: of
  /// hosts' links, the most common.
  MachineFabric fabric() const;
  /// Names of the ports that most hosts have as many of; of equally common numbers the larger.
  std::vector<std::string> adapters() const;

 private:
  struct Switch {
    std::set<std::string> hosts;
    std::map<std::string, std::set<std::string>> links;  ///< ports by other switch
  };
  int levels() const;
  void join_leaves(MachineFabric& fabric) const;

  std::map<std::string, Switch> switches_;
  std::map<std::string, std::map<std::string, std::string>> adapters_;  ///< names by host and id
  std::map<double, int> rates_;
};

/// Gb/s of "4x HDR", "4xEDR", "HDR"; 0 when it names no rate.
double infiniband_gbps(std::string_view text);

}  // namespace foretrain

// Reads /sys/class/infiniband/NAME/ports/N (rate "200 Gb/sec (4X HDR)", state "4: ACTIVE") and
// /sys/class/net/NAME (speed in Mb/s, operstate "up").
// The formats are in the kernel's Documentation/ABI/stable/sysfs-class-infiniband and
// testing/sysfs-class-net.
#include "sim/import/detection/network_ports.hpp"

#include <algorithm>

#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

// Rates in Gb/s beyond this one are taken for garbage.
constexpr double kFastestPort = 10'000;

/// Returns the first number of a text times `per_unit`, in Gb/s; 0 when there is none or it is implausible.
double gbps_of_file(const std::string& text, double per_unit) {
  const Words words = words_of(text, 1);
  const double value = words.empty() ? 0 : number_of(words[0]).value_or(0) * per_unit;
  return value > 0 && value < kFastestPort ? value : 0;
}

/// Returns the folder of the device above the class: "sys/devices/…/0000:07:00.0/net/eth0" gives the path up
/// to ":00.0".
std::string device_folder(const std::string& real) {
  const std::size_t name = real.rfind('/');
  const std::size_t kind = name == std::string::npos || name == 0 ? name : real.rfind('/', name - 1);
  return kind == std::string::npos ? "" : real.substr(0, kind);
}

/// Reads an adapter of /sys/class/infiniband. For an adapter with several ports, the fastest one that is up
/// stands for it.
/// States begin with "4" for ACTIVE; a port without a state file counts as up.
NetworkPort rdma_port(const FileTree& tree, const std::string& name) {
  const std::string folder = "sys/class/infiniband/" + name;
  NetworkPort out{name, device_folder(tree.real_path(folder)), 0, true, false, ""};
  for (const std::string& number : tree.entries(folder + "/ports")) {
    const std::string port = folder + "/ports/" + number, state = tree.text(port + "/state");
    const bool is_down = !state.empty() && !state.starts_with("4");
    const double gbps = is_down ? 0 : gbps_of_file(tree.text(port + "/rate"), 1);
    if (!out.state_file.empty() && (is_down || gbps <= out.gbps)) continue;
    out.is_down = is_down;
    out.gbps = gbps;
    out.state_file = port + "/state";
  }
  return out;
}

/// Reads an interface of /sys/class/net. Virtual interfaces have no device; the caller drops them.
NetworkPort net_port(const FileTree& tree, const std::string& name) {
  const std::string folder = "sys/class/net/" + name;
  constexpr double kMegabits = 1e-3;
  return {name,
          device_folder(tree.real_path(folder)),
          gbps_of_file(tree.text(folder + "/speed"), kMegabits),
          false,
          tree.text(folder + "/operstate") == "down",
          folder + "/operstate"};
}

/// Says whether another port belongs to the same device.
bool is_beside(const std::vector<NetworkPort>& ports, const NetworkPort& port) {
  return std::ranges::find(ports, port.device, &NetworkPort::device) != ports.end();
}

}  // namespace

std::vector<NetworkPort> network_ports(const FileTree& tree) {
  std::vector<NetworkPort> ports;
  for (const std::string& name : tree.entries("sys/class/infiniband")) ports.push_back(rdma_port(tree, name));
  std::erase_if(ports, [](const NetworkPort& port) { return port.device.empty(); });
  // The RDMA ports are compared alone, because a device may have several Ethernet interfaces.
  const std::vector<NetworkPort> rdma = ports;
  for (const std::string& name : tree.entries("sys/class/net")) {
    const NetworkPort port = net_port(tree, name);
    if (!port.device.empty() && !is_beside(rdma, port)) ports.push_back(port);
  }
  return ports;
}

}  // namespace foretrain

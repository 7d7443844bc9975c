// /sys/class/infiniband/NAME/ports/N and /sys/class/net/NAME: the kernel's
// Documentation/ABI/stable/sysfs-class-infiniband and testing/sysfs-class-net.
#include "sim/import/detection/network_ports.hpp"

#include <algorithm>

#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

constexpr double kFastestPort = 10'000;  // Gb/s; beyond it is no port

double gbps_of_file(const std::string& text, double per_unit) {
  const Words words = words_of(text, 1);
  const double value = words.empty() ? 0 : number_of(words[0]).value_or(0) * per_unit;
  return value > 0 && value < kFastestPort ? value : 0;
}

/// "sys/devices/…/0000:07:00.0/net/eth0" → the folder above "net"
std::string device_folder(const std::string& real) {
  const std::size_t name = real.rfind('/');
  const std::size_t kind = name == std::string::npos || name == 0 ? name : real.rfind('/', name - 1);
  return kind == std::string::npos ? "" : real.substr(0, kind);
}

/// The fastest port that is up stands for a device with several. States: "4: ACTIVE"; a port without a state
/// file tells nothing.
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

bool is_beside(const std::vector<NetworkPort>& ports, const NetworkPort& port) {
  return std::ranges::find(ports, port.device, &NetworkPort::device) != ports.end();
}

}  // namespace

std::vector<NetworkPort> network_ports(const FileTree& tree) {
  std::vector<NetworkPort> ports;
  for (const std::string& name : tree.entries("sys/class/infiniband")) ports.push_back(rdma_port(tree, name));
  std::erase_if(ports, [](const NetworkPort& port) { return port.device.empty(); });
  const std::vector<NetworkPort> rdma = ports;
  for (const std::string& name : tree.entries("sys/class/net")) {
    const NetworkPort port = net_port(tree, name);
    if (!port.device.empty() && !is_beside(rdma, port)) ports.push_back(port);
  }
  return ports;
}

}  // namespace foretrain

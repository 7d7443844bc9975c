// The links of a node as NCCL reads them: the PCIe tree, the NVLinks of the job's GPUs, and the NICs. Every
// pair of CPUs gets a socket link, whether there is one or not.
#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/cluster/node_layout.hpp"
#include "sim/collective/nccl/node_map.hpp"

namespace foretrain::nccl {

namespace {

/// Builds NodeLinks from the description of a node.
class Reader {
 public:
  explicit Reader(const NodeMapInput& input)
      : input_(input), numbers_(static_cast<std::size_t>(first_of(input.node, VertexKind::leaf)), -1) {}

  NodeLinks read() {
    number_devices();
    for (const NodeLink& link : input_.node.links) add(link);
    connect_sockets();
    connect_ports();
    sort_links();
    return std::move(node_);
  }

 private:
  /// Adds a device and returns its number.
  int new_device(DeviceKind kind) {
    node_.devices.push_back(kind);
    return static_cast<int>(node_.devices.size()) - 1;
  }
  /// Returns the entry for a device of the cluster in the table of numbers.
  int& number(VertexKind kind, int index) {
    return numbers_[first_of(input_.node, kind) + static_cast<VertexId>(index)];
  }

  /// Numbers the job's GPUs first, then CPUs, PCIe switches, one NVSwitch for all, and the NICs if there are
  /// several nodes.
  void number_devices() {
    const NodeSpec& spec = input_.node;
    for (const int gpu : input_.gpus) number(VertexKind::gpu, gpu) = new_device(DeviceKind::gpu);
    for (int i = 0; i < spec.cpus; ++i)
      node_.cpus.push_back(number(VertexKind::cpu, i) = new_device(DeviceKind::cpu));
    for (int i = 0; i < spec.switches; ++i)
      number(VertexKind::pcie_switch, i) = new_device(DeviceKind::pcie_switch);
    if (spec.nvswitches > 0) node_.nvswitch = new_device(DeviceKind::nvswitch);
    for (int i = 0; i < spec.nvswitches; ++i) number(VertexKind::nvswitch, i) = node_.nvswitch;
    if (!input_.several_nodes) return;
    for (int i = 0; i < spec.nics; ++i) number(VertexKind::nic, i) = new_device(DeviceKind::nic);
  }

  /// Returns the number of a named device, or nothing if it is not part of the job.
  std::optional<int> device(const std::string& name) const {
    const std::optional<VertexId> found = find_device(input_.node, name);
    if (!found || numbers_[*found] < 0) return std::nullopt;
    return numbers_[*found];
  }

  /// Adds a link in both directions. Several links between one pair become one wider link.
  void connect(int a, int b, BookedKind kind, Milli bandwidth) {
    for (BookedLink& link : node_.links) {
      if (link.kind == kind && ((link.from == a && link.to == b) || (link.from == b && link.to == a)))
        link.bandwidth += bandwidth;
    }
    const auto same = [&](const BookedLink& link) {
      return link.kind == kind && link.from == a && link.to == b;
    };
    if (std::ranges::any_of(node_.links, same)) return;
    node_.links.push_back({a, b, kind, bandwidth});
    node_.links.push_back({b, a, kind, bandwidth});
  }

  /// Adds a link of the description, with the bandwidth that NCCL assumes for it.
  void add(const NodeLink& link) {
    const std::optional<int> a = device(link.a), b = device(link.b);
    if (!a || !b || link.type.kind == LinkKind::socket || link.type.kind == LinkKind::network) return;
    const std::int64_t parallel = std::max(1, link.count);
    const Milli all =
        static_cast<Milli>(std::min<std::int64_t>(kLocal, link_bandwidth(link.type) * parallel));
    if (link.type.kind == LinkKind::pcie) return connect(*a, *b, BookedKind::pcie, all);
    const bool to_cpu = kind(*a) == DeviceKind::cpu || kind(*b) == DeviceKind::cpu;
    if (to_cpu && input_.node.host.family != HostFamily::power9) return connect(*a, *b, BookedKind::c2c, all);
    const std::int64_t one =
        nvlink_bandwidth(link.type, input_.settings.version, compute_capability(input_.node));
    connect(*a, *b, BookedKind::nvlink, static_cast<Milli>(std::min<std::int64_t>(kLocal, one * parallel)));
  }

  DeviceKind kind(int device) const { return node_.devices[static_cast<std::size_t>(device)]; }

  static int compute_capability(const NodeSpec& node) {
    return static_cast<int>(std::lround(node.gpu.compute_capability * 10));
  }

  /// Adds a socket link between every two CPUs.
  void connect_sockets() {
    const Milli bandwidth = socket_bandwidth(input_.settings.version, input_.node.host.family);
    for (std::size_t a = 0; a < node_.cpus.size(); ++a) {
      for (std::size_t b = a + 1; b < node_.cpus.size(); ++b)
        connect(node_.cpus[a], node_.cpus[b], BookedKind::socket, bandwidth);
    }
  }

  /// Adds the network side of every NIC.
  void connect_ports() {
    node_.first_port = static_cast<int>(node_.devices.size());
    if (!input_.several_nodes) return;
    node_.ports = input_.node.nics;
    for (int i = 0; i < node_.ports; ++i) {
      connect(number(VertexKind::nic, i), new_device(DeviceKind::port), BookedKind::network,
              link_bandwidth(input_.network));
    }
  }

  /// Lists the links that leave each device, widest first.
  void sort_links() {
    node_.out.resize(node_.devices.size());
    for (std::size_t i = 0; i < node_.links.size(); ++i) {
      node_.out[static_cast<std::size_t>(node_.links[i].from)].push_back(static_cast<int>(i));
    }
    for (std::vector<int>& out : node_.out) {
      std::ranges::stable_sort(out, [&](int a, int b) { return bandwidth(a) > bandwidth(b); });
    }
  }
  Milli bandwidth(int link) const { return node_.links[static_cast<std::size_t>(link)].bandwidth; }

  const NodeMapInput& input_;
  /// Number of each device by its number in the cluster; -1: not part of the job.
  std::vector<int> numbers_;
  NodeLinks node_;
};

/// Returns the class of a path that consists of one such link.
constexpr PathClass class_of(BookedKind kind) {
  switch (kind) {
    case BookedKind::nvlink:
      return PathClass::nvl;
    case BookedKind::c2c:
      return PathClass::c2c;
    case BookedKind::pcie:
      return PathClass::pix;
    case BookedKind::socket:
      return PathClass::sys;
    case BookedKind::network:
      return PathClass::loc;
  }
  return PathClass::loc;
}

/// Breadth-first search of the paths to one device, over the widest links first.
class PathFinder {
 public:
  PathFinder(const NodeLinks& node, int base, bool old_gpu, bool power_cpu)
      : node_(node), base_(base), old_gpu_(old_gpu), power_cpu_(power_cpu), paths_(node.devices.size()) {}

  std::vector<NodePath> find() {
    path(base_).reachable = true;
    path(base_).bandwidth = kLocal;
    std::vector<int> level{base_};
    while (!level.empty()) {
      std::vector<int> next;
      for (const int device : level) spread_from(device, next);
      level = std::move(next);
    }
    return std::move(paths_);
  }

 private:
  NodePath& path(int device) { return paths_[static_cast<std::size_t>(device)]; }
  DeviceKind kind(int device) const { return node_.devices[static_cast<std::size_t>(device)]; }

  /// Extends the path of `here` to its neighbours. A neighbour takes it if it has no path, or a narrower one
  /// that is not shorter.
  void spread_from(int here, std::vector<int>& next) {
    for (const int forward : node_.out[static_cast<std::size_t>(here)]) {
      const BookedLink& link = node_.links[static_cast<std::size_t>(forward)];
      if (!may_relay(here, link)) continue;
      const Milli bandwidth = std::min(path(here).bandwidth, link.bandwidth);
      NodePath& there = path(link.to);
      const bool shorter = !there.reachable || there.hops() > path(here).hops();
      if (link.to == base_ || !shorter || there.bandwidth >= bandwidth) continue;
      there = extended(here, link, forward, bandwidth);
      if (std::ranges::find(next, link.to) == next.end()) next.push_back(link.to);
    }
  }

  /// Returns whether traffic may pass `here` to the link. GPUs pass on NVLink traffic between two of their
  /// neighbours and nothing else.
  bool may_relay(int here, const BookedLink& link) {
    if (here == base_ || kind(here) != DeviceKind::gpu) return true;
    return link.kind == BookedKind::nvlink && kind(link.to) == DeviceKind::gpu && path(here).hops() <= 1;
  }

  /// Returns the class that the step adds to a path.
  PathClass step_class(int here, const BookedLink& link) {
    const auto either = [&](DeviceKind k) { return kind(here) == k || kind(link.to) == k; };
    if (link.kind == BookedKind::pcie && either(DeviceKind::cpu)) return PathClass::phb;
    if (kind(here) == DeviceKind::pcie_switch && kind(link.to) == DeviceKind::pcie_switch)
      return PathClass::pxb;
    const bool relayed = here != base_ && kind(here) == DeviceKind::gpu && link.kind == BookedKind::nvlink;
    return relayed ? PathClass::nvb : class_of(link.kind);
  }

  /// Returns the path from the far end of `link` back over it and on to the base.
  NodePath extended(int here, const BookedLink& link, int forward, Milli bandwidth) {
    NodePath result;
    const int back = forward ^ 1;
    result.steps.push_back({back, forward, link.kind == BookedKind::pcie, reverse_traffic_into(here, link)});
    result.steps.insert(result.steps.end(), path(here).steps.begin(), path(here).steps.end());
    result.type = std::max(path(here).type, step_class(here, link));
    result.bandwidth = bandwidth;
    result.reachable = true;
    return result;
  }

  /// Returns the additional load of the reverse direction for a step that arrives at `device` over the link.
  ReverseTraffic reverse_traffic_into(int device, const BookedLink& link) const {
    if (kind(device) == DeviceKind::gpu && old_gpu_) return ReverseTraffic::eighth;
    return power_cpu_ && kind(device) == DeviceKind::cpu && link.kind == BookedKind::nvlink
               ? ReverseTraffic::all
               : ReverseTraffic::none;
  }

  const NodeLinks& node_;
  int base_;
  bool old_gpu_, power_cpu_;
  std::vector<NodePath> paths_;
};

}  // namespace

NodeLinks NodeLinks::read(const NodeMapInput& input) { return Reader(input).read(); }

std::vector<NodePath> paths_to(const NodeLinks& node, int base, bool old_gpu, bool power_cpu) {
  return PathFinder(node, base, old_gpu, power_cpu).find();
}

}  // namespace foretrain::nccl

// New cluster files. The ports of the GPU determine how it is built in; the host is that of the template of
// servers with such ports.
#include "sim/scenario/new_cluster.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/scenario/cluster_text.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// Limits of layouts. Servers with more than 4 GPUs have them behind PCIe switches; for up to 2 GPUs one
/// socket has lanes enough.
constexpr int kMostGpusAtSockets = 4, kMostGpusOfOneSocket = 2;
/// A mesh of more GPUs leaves too few NVLinks for each pair. NVIDIA's boards then have NVSwitches, AMD's a
/// mesh.
constexpr int kMostGpusOfMesh = 4;

/// Returns whether messages go through the kernel's TCP, in which case adapters do not reach GPU memory.
bool is_plain_ethernet(std::string_view network) { return network.find("eth_") != std::string_view::npos; }

/// Returns how boards with this GPU usually connect `gpus` of them.
NvlinkLayout usual_layout(const Gpu& gpu, int gpus) {
  const GpuPorts& ports = gpu.ports;
  if (ports.nvlinks == 0 || ports.bridged || gpus == 1) return NvlinkLayout::none;
  const bool may_mesh = gpus <= kMostGpusOfMesh || is_amd(gpu.architecture);
  const bool is_mesh = may_mesh && ports.nvlinks >= gpus - 1;
  return is_mesh ? NvlinkLayout::all : NvlinkLayout::through_switch;
}

/// The parts that a question names. Construction throws InputError with all mistakes.
class NewClusterParts {
 public:
  explicit NewClusterParts(const NewCluster& wanted) : wanted_(wanted) {
    collect([&] { gpu = open_value(CatalogKind::gpus, wanted.gpu, read_gpu); });
    if (!wanted.network.empty())
      collect([&] { network = open_value(CatalogKind::links, wanted.network, read_link_type); });
    if (!wanted.network.empty() && !network.name.empty() && network.kind != LinkKind::network)
      refuse(fmt::format("{} is no link between nodes", network.name), "`foretrain list networks`");
    if (wanted.nodes > 1 && wanted.network.empty())
      refuse(fmt::format("{} nodes need a network", wanted.nodes),
             "give --network NAME, one of `foretrain list networks`");
    layout = wanted.nvlink.value_or(usual_layout(gpu, wanted.gpus_per_node));
    if (!gpu.name.empty()) check_nvlinks();
    if (!mistakes_.empty()) throw InputError(std::move(mistakes_));
    // The template gives the host; it is not part of the question, so it cannot be wrong.
    like = open_value(CatalogKind::nodes, host_template_of(host_link_of(gpu)), read_node_template);
  }

  Gpu gpu;
  LinkType network;
  NodeSpec like;
  NvlinkLayout layout = NvlinkLayout::none;

 private:
  template <class Open>
  // Keeps the diagnostics of an error instead of throwing them.
  void collect(Open open) {
    try {
      open();
    } catch (const InputError& error) {
      mistakes_.insert(mistakes_.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }

  void refuse(std::string message, std::string hint) {
    collect([&] { throw InputError(std::move(message), std::move(hint)); });
  }

  // Checks the NVLink layout against the GPU's ports.
  void check_nvlinks() {
    const int gpus = wanted_.gpus_per_node;
    const GpuPorts& ports = gpu.ports;
    if (layout == NvlinkLayout::none) return;
    if (ports.nvlinks == 0) return refuse(fmt::format("{} has no NVLinks", gpu.name), "leave --nvlink out");
    if (gpus == 1) return refuse("NVLinks join two GPUs, a node has one", "--gpus-per-node 2 or more");
    if (ports.bridged && gpus > 2 && layout != NvlinkLayout::pairs)
      return refuse(fmt::format("a bridge joins two {}, not {}", gpu.name, gpus), "--nvlink pairs");
    if (layout == NvlinkLayout::all && ports.nvlinks < gpus - 1)
      refuse(fmt::format("{} has {} NVLinks, too few for {} others", gpu.name, ports.nvlinks, gpus - 1),
             "--nvlink pairs or --nvlink switch");
  }

  const NewCluster& wanted_;
  std::vector<Diagnostic> mistakes_;
};

/// Returns device names such as gpu0, gpu1, …
std::vector<std::string> devices(std::string_view kind, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", kind, i));
  return names;
}

std::vector<std::string> all_quoted(std::vector<std::string> names) {
  for (std::string& name : names) name = quoted_text(name);
  return names;
}

/// Writes the file section by section, with each assumption marked.
class ClusterWriter {
 public:
  ClusterWriter(const NewCluster& wanted, const NewClusterParts& parts)
      : wanted_(wanted),
        parts_(parts),
        host_link_(host_link_of(parts.gpu)),
        template_(host_template_of(host_link_)),
        gpus_(devices("gpu", wanted.gpus_per_node)),
        sockets_(socket_count()),
        switches_(wanted.gpus_per_node > kMostGpusAtSockets && !has_own_cpus() ? sockets_ : 0) {}

  std::string text() {
    add_head();
    add_node();
    out_.add_assumed_host(parts_.like, template_, sockets_);
    add_host_links();
    add_socket_links();
    add_nvlinks();
    add_fabric();
    return out_.text();
  }

 private:
  /// Returns whether every GPU has a CPU of its own, as in Grace Hopper.
  bool has_own_cpus() const { return host_link_.starts_with("nvlink_c2c"); }

  int socket_count() const {
    if (has_own_cpus()) return std::min(wanted_.gpus_per_node, kMostCpusPerNode);
    return wanted_.gpus_per_node <= kMostGpusOfOneSocket ? 1 : 2;
  }

  std::string subject() const {
    return fmt::format("{} {} with {}x {}", wanted_.nodes, plural(wanted_.nodes, "node"),
                       wanted_.gpus_per_node, parts_.gpu.name);
  }

  void add_head() {
    out_.remark(subject() +
                ", as `foretrain topology new` makes it. What is marked as assumed is what such servers");
    out_.remark("usually have: put in what yours have. Keys: docs/reference/cluster.md.");
    const std::string network = has_network() ? ", " + parts_.network.name : "";
    out_.add("description", quoted_text(subject() + network));
    out_.add("nodes", std::to_string(wanted_.nodes));
  }

  bool has_network() const { return !wanted_.network.empty(); }

  void add_node() {
    out_.section("[node]");
    out_.add("gpus", std::to_string(wanted_.gpus_per_node));
    out_.add("gpu", quoted_text(wanted_.gpu));
    out_.add("cpus", std::to_string(sockets_),
             has_own_cpus() ? "assumed: one for each GPU" : "assumed: sockets");
    if (switches_ > 0)
      out_.add("switches", std::to_string(switches_), "assumed: PCIe switches, one at each socket");
    if (parts_.layout == NvlinkLayout::through_switch) add_nvswitches();
    if (has_network()) add_adapter();
    if (!parts_.gpu.ports.peer_access) out_.add("peer_access", "false", "assumed: GeForce drivers refuse it");
  }

  void add_nvswitches() {
    out_.add("nvswitches", "1", "those of a board, described as one device");
    if (parts_.gpu.architecture >= Architecture::hopper && !is_amd(parts_.gpu.architecture))
      out_.add("multicast", "true", "assumed: they reduce (NVLink SHARP)");
  }

  void add_adapter() {
    out_.add("nics_at", switches_ > 0 ? "[\"switch0\"]" : "[\"cpu0\"]",
             "assumed: one adapter in a node; add a place for each further one");
    out_.add("nic_link", quoted_text(has_own_cpus() ? "pcie5_x16" : host_link_),
             "assumed: a slot like those of the GPUs");
    if (is_plain_ethernet(parts_.network.name))
      out_.add("gpudirect", "false", "assumed: messages over TCP go through host memory");
    else if (!parts_.gpu.ports.peer_access)
      out_.add("gpudirect", "false", "assumed: GeForce drivers refuse it");
  }

  // GPUs are spread evenly over the sockets.
  int socket_of(int gpu) const {
    return static_cast<int>(static_cast<std::int64_t>(gpu) * sockets_ / wanted_.gpus_per_node);
  }

  void add_host_links() {
    const std::string place = switches_ > 0 ? "switch" : "cpu";
    std::vector<std::string> pairs;
    for (int i = 0; i < wanted_.gpus_per_node; ++i)
      pairs.push_back(
          device_pair(gpus_[static_cast<std::size_t>(i)], fmt::format("{}{}", place, socket_of(i))));
    for (int i = 0; i < switches_; ++i)
      pairs.push_back(device_pair(fmt::format("switch{}", i), fmt::format("cpu{}", i)));
    out_.add_links(host_link_, 1,
                   fmt::format("assumed: what {} takes, GPUs spread over the sockets", parts_.gpu.name));
    out_.add_list("pairs", pairs);
  }

  void add_socket_links() {
    if (sockets_ < 2) return;
    const NodeLink* link = socket_link_of(parts_.like);
    if (link == nullptr) return;
    out_.add_links(link->type.name, link->count, fmt::format("assumed: as in {}", template_));
    out_.add_list("mesh", all_quoted(devices("cpu", sockets_)));
  }

  void add_nvlinks() {
    const GpuPorts& ports = parts_.gpu.ports;
    const int others = wanted_.gpus_per_node - 1;
    if (parts_.layout == NvlinkLayout::none) return;
    if (parts_.layout == NvlinkLayout::all) {
      out_.add_links(ports.nvlink, ports.nvlinks / others,
                     fmt::format("assumed: the {} NVLinks of a GPU, over {} others", ports.nvlinks, others));
      return out_.add_list("mesh", all_quoted(gpus_));
    }
    out_.add_links(ports.nvlink, ports.nvlinks,
                   fmt::format("assumed: all {} NVLinks of a GPU", ports.nvlinks));
    std::vector<std::string> pairs;
    const bool is_paired = parts_.layout == NvlinkLayout::pairs;
    for (std::size_t i = 0; i < gpus_.size(); i += is_paired ? 2 : 1) {
      if (!is_paired)
        pairs.push_back(device_pair(gpus_[i], "nvswitch0"));
      else if (i + 1 < gpus_.size())
        pairs.push_back(device_pair(gpus_[i], gpus_[i + 1]));
    }
    out_.add_list("pairs", pairs);
  }

  void add_fabric() {
    if (!has_network()) return;
    out_.section("[fabric]");
    out_.add("kind", "\"star\"", "assumed: one switch that never blocks");
    out_.add("link", quoted_text(wanted_.network),
             fmt::format("{} per direction", to_string(parts_.network.bandwidth)));
    out_.add("switch_latency", "\"0.3 us\"", "assumed");
  }

  const NewCluster& wanted_;
  const NewClusterParts& parts_;
  std::string host_link_, template_;
  std::vector<std::string> gpus_;
  int sockets_, switches_;
  ClusterText out_;
};

}  // namespace

std::string new_cluster_text(const NewCluster& wanted) {
  const NewClusterParts parts(wanted);
  // The written text must be one that the reader accepts.
  std::string text = ClusterWriter(wanted, parts).text();
  read_or_throw(SourceText{"new cluster", text}, read_cluster);
  return text;
}

}  // namespace foretrain

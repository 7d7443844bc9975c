// Writes the file section by section, as `topology new` does. Facts of files stand with their place; what no
// file says is taken from the nearest template of the catalog and marked as assumed.
#include "sim/import/machines/machine_cluster.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/import/machines/amd_links.hpp"
#include "sim/import/machines/board_nvlinks.hpp"
#include "sim/import/machines/cluster_sections.hpp"
#include "sim/import/machines/imported_node.hpp"
#include "sim/import/machines/machine_completion.hpp"
#include "sim/import/machines/machine_warnings.hpp"
#include "sim/import/machines/node_gpu.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/scenario/cluster_text.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/cluster_keys.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// The six NVLinks of a V100 are shared out over its neighbours and its POWER9 (IBM, AC922 redbook: two GPUs
/// of a socket get three each way, three get two).
constexpr int kPower9Nvlinks = 6;
/// Ports slower than this share of the fastest are for management or storage.
constexpr double kSlowPort = 0.5;

/// The GPU of a node, and the template whose host the node is assumed to have.
struct NodeParts {
  Gpu gpu;
  RecognisedGpu recognised;
  NodeSpec like;
  std::string like_name;
};

/// Writes one kind of node. The constructor completes the devices and recognises the GPU; write() goes
/// through the sections in the order of a cluster file.
class ImportedWriter {
 public:
  ImportedWriter(Machine machine, const ImportAnswers& answers, const KindPlace& place)
      : machine_(std::move(machine)),
        answers_(answers),
        place_(place),
        out_(place.is_first ? "" : "more_nodes.") {
    complete_devices(machine_, answers_.gpus_per_node, nodes() > 1, assumptions_);
    recognise();
  }

  ImportedNode write() {
    leave_out_slow_ports();
    choose_network();
    if (place_.is_first)
      add_head();
    else
      add_kind();
    add_node();
    add_host();
    add_pci_links();
    add_socket_links();
    add_nvlinks();
    if (!network_.empty() && (place_.is_first || network_ != place_.first_network))
      add_fabric_section(out_, machine_.fabric, network_, network_because_);
    if (place_.is_first) add_site_section(out_, machine_.site, place_.name.empty());
    return {out_.text(), std::move(assumptions_), std::move(machine_.doubts),
            network_,    parts_.recognised.name,  nodes()};
  }

 private:
  const MachinePart& part(int index) const { return machine_.parts[static_cast<std::size_t>(index)]; }
  const MachinePart& first_gpu() const { return part(machine_.of_kind(PartKind::gpu).front()); }

  /// Returns the NVLinks of GPU 0; -1 when no file lists them.
  int nvlinks_of_first_gpu() const {
    if (!machine_.tells_nvlinks) return -1;
    int count = 0;
    for (const MachineNvlinks& link : machine_.nvlinks)
      count += link.gpu == 0 || link.other == 0 ? link.count : 0;
    return count;
  }

  bool has_wired_nvlinks() const {
    const auto is_of_first = [](const MachineNvlinks& link) { return link.gpu == 0 || link.other == 0; };
    const auto through_switch = [](const MachineNvlinks& link) { return link.other < 0; };
    return std::ranges::any_of(machine_.nvlinks, through_switch) ||
           std::ranges::count_if(machine_.nvlinks, is_of_first) > 1;
  }

  /// Chooses the GPU and the template of the host, fixes the links between GPUs, and adds warnings.
  void recognise() {
    GpuTraits traits;
    traits.product = first_gpu().name.empty() ? machine_.gpu_product : first_gpu().name;
    traits.pci_device = first_gpu().pci_device;
    traits.compute_capability = first_gpu().compute_capability;
    traits.nvlinks = nvlinks_of_first_gpu();
    traits.is_wired = has_wired_nvlinks();
    traits.generation = first_gpu().generation;
    traits.gpus_of_node = gpus_of(machine_);
    parts_.recognised = answers_.gpu.empty() ? gpu_of_node(machine_, traits)
                                             : RecognisedGpu{answers_.gpu, answers_.gpu_because};
    parts_.gpu = open_value(CatalogKind::gpus, parts_.recognised.name, read_gpu);
    settle_amd_links(machine_.nvlinks, parts_.gpu, gpus_of(machine_));
    parts_.like_name = machine_.family == HostFamily::power9 ? "ac922-4gpu" : host_template_of(host_link());
    parts_.like = open_value(CatalogKind::nodes, parts_.like_name, read_node_template);
    if (machine_.has_no_gpu && answers_.gpu.empty())
      assume("a core in the place of a GPU: the files say that this node has none; --gpu NAME says better");
    if (parts_.recognised.assumed)
      assume(fmt::format("the GPU: {} is the nearest of the catalog to {}; --gpu NAME says better",
                         parts_.gpu.name, parts_.recognised.because));
    if (has_usual_nvlinks()) usual_nvlinks_ = board_nvlinks(parts_.gpu, gpus_of(machine_));
    if (parts_.recognised.assumed) return;
    for (MachineWarning& doubt : warnings_against(machine_, parts_.gpu))
      machine_.doubts.push_back(std::move(doubt));
  }

  std::string host_link() const { return host_link_of(parts_.gpu); }

  bool has_assumed(std::string_view beginning) const {
    const auto begins = [beginning](const std::string& what) { return what.starts_with(beginning); };
    return std::ranges::any_of(assumptions_, begins);
  }
  void assume(std::string what) { assumptions_.push_back(std::move(what)); }

  /// Keeps only the adapters that carry training traffic, by their rates.
  void leave_out_slow_ports() {
    double fastest = 0;
    for (const int i : machine_.of_kind(PartKind::adapter)) fastest = std::max(fastest, part(i).network_gbps);
    for (const int i : machine_.of_kind(PartKind::adapter)) {
      const bool is_slow = part(i).network_gbps > 0 && part(i).network_gbps < kSlowPort * fastest;
      if (is_slow)
        assume(fmt::format("{} with {:g} Gb/s is left out: not for training beside {:g} Gb/s", part(i).name,
                           part(i).network_gbps, fastest));
      else
        adapters_.push_back(i);
    }
  }

  /// Chooses the network: the user's, else sockets, else by adapter and rate, else the usual one.
  void choose_network() {
    network_ = answers_.network;
    if (!network_.empty() || (adapters_.empty() && machine_.fabric.levels == 0 && nodes() == 1)) return;
    const MachinePart adapter = adapters_.empty() ? MachinePart{} : part(adapters_.front());
    const double gbps = adapter.network_gbps > 0 ? adapter.network_gbps : machine_.fabric.gbps;
    if (!machine_.sockets_on.empty()) return choose_sockets(gbps);
    network_ = network_of(adapter.pci_device, gbps, adapter.is_ethernet);
    if (!network_.empty()) {
      network_because_ =
          gbps > 0 ? fmt::format("{:g} Gb/s", gbps) : "what adapter " + adapter.pci_device + " usually runs";
      return;
    }
    network_ = gbps > 0 ? nearest_network(gbps, adapter.is_ethernet) : usual_network();
    network_because_ =
        gbps > 0 ? fmt::format("assumed: nearest to {:g} Gb/s", gbps) : "assumed: of the GPU's generation";
    assume(fmt::format("the network: {}; --network NAME says better", network_));
  }

  /// Chooses a TCP link, since NCCL fell back to sockets, whatever adapters there are.
  void choose_sockets(double gbps) {
    network_ = nearest_socket_network(gbps);
    network_because_ =
        fmt::format("{}NCCL used sockets on {}", gbps > 0 ? "" : "assumed: ", printable(machine_.sockets_on));
    if (gbps <= 0)
      assume(
          fmt::format("the network: NCCL used sockets on {}, whose rate no file tells: {}; --network NAME "
                      "says better",
                      printable(machine_.sockets_on), network_));
  }

  /// Returns the network that servers with such PCIe were usually sold with.
  std::string usual_network() const {
    const std::string link = host_link();
    if (is_cpu()) return "eth_10_tcp";
    if (link.starts_with("pcie5") || link.starts_with("nvlink")) return "ib_ndr";
    return link.starts_with("pcie4") ? "ib_hdr" : "ib_edr";
  }

  int nodes() const {
    return answers_.nodes > 0 ? answers_.nodes : std::clamp(machine_.fabric.nodes, 1, kMostNodes);
  }

  std::string subject() const {
    return fmt::format("{} with {}x {}", counted(nodes(), "node"), gpus_of(machine_), parts_.gpu.name);
  }

  void add_head() {
    out_.remark(fmt::format("{}, as `foretrain topology {}` reads {} ({}).",
                            place_.site_subject.empty() ? subject() : place_.site_subject, answers_.command,
                            printable(machine_.place.file), machine_.format));
    out_.remark(
        "What is marked as assumed no file says: put in what yours have. Keys: docs/reference/cluster.md.");
    for (const std::string& remark : machine_.remarks) out_.remark(printable(remark));
    for (const MachineWarning& doubt : machine_.doubts)
      out_.remark(printable(fmt::format("Doubtful: {} ({}).", doubt.what, to_string(doubt.place))));
    const std::string about = place_.site_subject.empty() ? subject() : place_.site_subject;
    out_.add("description", quoted_text(about + (network_.empty() ? "" : ", " + network_)));
    if (!place_.name.empty()) out_.add("node_kind", quoted_text(place_.name), subject());
    const bool is_said = answers_.nodes > 0 || machine_.fabric.nodes > 0;
    out_.add("nodes", std::to_string(nodes()), is_said ? "" : "assumed: put in how many there are");
    if (!is_said)
      assume(place_.name.empty() ? "1 node; --nodes N says better" : "1 node; put in how many there are");
  }

  /// Writes the head of a kind beside the first.
  void add_kind() {
    out_.raw_section("[[more_nodes]]");
    out_.add("name", quoted_text(place_.name), subject());
    for (const MachineWarning& doubt : machine_.doubts)
      out_.remark(printable(fmt::format("Doubtful: {} ({}).", doubt.what, to_string(doubt.place))));
    out_.add("nodes", std::to_string(nodes()),
             machine_.fabric.nodes > 0 ? "" : "assumed: put in how many there are");
    if (machine_.fabric.nodes == 0) assume("1 node; put in how many there are");
    add_request_keys(out_, machine_.site);
  }

  void add_node() {
    out_.section("[node]");
    out_.add("gpus", std::to_string(gpus_of(machine_)),
             has_assumed("the node:") ? "assumed: as most servers for training have" : "");
    out_.add(
        "gpu", quoted_text(parts_.recognised.name),
        (parts_.recognised.assumed ? "assumed: nearest to " : "") + printable(parts_.recognised.because));
    out_.add("cpus", std::to_string(machine_.of_kind(PartKind::socket).size()),
             has_assumed("where ") ? "assumed: GPUs are spread over them" : "");
    if (const auto switches = machine_.of_kind(PartKind::pcie_switch); !switches.empty())
      out_.add("switches", std::to_string(switches.size()));
    if (!adapters_.empty()) out_.add("nics", std::to_string(adapters_.size()), adapter_names());
    if (has_nvswitches()) out_.add("nvswitches", "1", "those of a board, described as one device");
    if (has_nvswitches() && parts_.gpu.architecture >= Architecture::hopper &&
        !is_amd(parts_.gpu.architecture))
      out_.add("multicast", "true", "assumed: they reduce (NVLink SHARP)");
    if (machine_.peer_access && !*machine_.peer_access)
      out_.add("peer_access", "false", "as nvidia-smi topo -p2p shows");
    else if (!machine_.peer_access && !parts_.gpu.ports.peer_access)
      out_.add("peer_access", "false", "assumed: GeForce drivers refuse it");
    if (is_cpu()) out_.add("gpudirect", "false", "what trains is in the host's memory");
  }

  std::string adapter_names() const {
    std::string out;
    for (const int i : adapters_) {
      if (!part(i).name.empty()) out += (out.empty() ? "" : ", ") + printable(part(i).name);
    }
    return out;
  }

  void add_host() {
    if (machine_.cores == 0)
      return out_.add_assumed_host(parts_.like, parts_.like_name,
                                   static_cast<int>(machine_.of_kind(PartKind::socket).size()));
    add_host_section(out_, machine_, parts_.like.host);
  }

  /// Returns the name of a device in the file: cpu0, switch1, gpu2, nic3, by its number among its kind.
  std::string device_of(int index) const {
    static constexpr std::string_view kNames[] = {"cpu", "switch", "gpu", "nic"};
    const std::vector<int> alike =
        part(index).kind == PartKind::adapter ? adapters_ : machine_.of_kind(part(index).kind);
    const auto number = std::ranges::find(alike, index) - alike.begin();
    return fmt::format("{}{}", kNames[static_cast<std::size_t>(part(index).kind)], number);
  }

  bool has_power9_nvlinks() const {
    return machine_.family == HostFamily::power9 && parts_.gpu.ports.nvlinks == kPower9Nvlinks;
  }

  /// Returns the number of GPUs at the same socket, including this one.
  int neighbour_gpus(int gpu) const {
    const auto at = [&](int other) { return socket_of(other) == socket_of(gpu); };
    return static_cast<int>(std::ranges::count_if(machine_.of_kind(PartKind::gpu), at));
  }
  int socket_of(int index) const {
    while (part(index).parent >= 0) index = part(index).parent;
    return index;
  }

  /// Writes the links to the device above, in one group for each type and count.
  void add_pci_links() {
    std::map<std::string, std::vector<std::string>> assumed, known;
    std::map<int, std::vector<std::string>> power9;
    for (std::size_t i = 0; i < machine_.parts.size(); ++i) {
      const int index = static_cast<int>(i);
      const MachinePart& device = part(index);
      if (device.kind == PartKind::socket || device.parent < 0 || is_excluded(index)) continue;
      if (device.kind == PartKind::gpu && has_power9_nvlinks()) {
        power9[kPower9Nvlinks / neighbour_gpus(index)].push_back(
            device_pair(device_of(index), device_of(socket_of(index))));
        continue;
      }
      const std::string pair = device_pair(device_of(index), device_of(device.parent));
      const std::string link = link_of(device);
      (link.empty() ? assumed[host_link()] : known[link]).push_back(pair);
    }
    for (const auto& [link, pairs] : known) add_group(link, 1, "", pairs);
    for (const auto& [link, pairs] : assumed) {
      add_group(link, 1, fmt::format("assumed: what {} takes", parts_.gpu.name), pairs);
      assume(fmt::format("PCIe: {}", link));
    }
    for (const auto& [count, pairs] : power9)
      add_group(parts_.gpu.ports.nvlink, count, "assumed: a POWER9 and its GPUs share NVLinks evenly", pairs);
  }

  bool is_excluded(int index) const {
    return part(index).kind == PartKind::adapter && std::ranges::find(adapters_, index) == adapters_.end();
  }

  /// Returns the catalog's PCIe link with so many lanes; empty when lanes are unknown or no link has them.
  static std::string link_of(const MachinePart& device) {
    if (device.generation == 0 || device.lanes == 0) return "";
    const std::string name = fmt::format("pcie{}_x{}", device.generation, device.lanes);
    const std::vector<std::string> known = names_in(CatalogKind::links);
    return std::ranges::find(known, name) != known.end() ? name : "";
  }

  void add_group(const std::string& link, int count, const std::string& comment,
                 const std::vector<std::string>& pairs) {
    out_.add_links(link, count, comment);
    out_.add_list("pairs", pairs);
  }

  void add_socket_links() {
    const auto sockets = machine_.of_kind(PartKind::socket);
    const NodeLink* link = socket_link_of(parts_.like);
    if (sockets.size() < 2 || link == nullptr) return;
    const bool is_amd = machine_.family == HostFamily::amd;
    out_.add_links(is_amd ? "xgmi_amd" : link->type.name, is_amd ? 1 : link->count,
                   fmt::format("assumed: as in {}", parts_.like_name));
    std::vector<std::string> names;
    for (const int socket : sockets) names.push_back(quoted_text(device_of(socket)));
    out_.add_list("mesh", names);
  }

  bool is_cpu() const { return parts_.gpu.architecture == Architecture::cpu; }

  bool has_nvswitches() const {
    const auto through_switch = [](const MachineNvlinks& link) { return link.other < 0; };
    return std::ranges::any_of(machine_.tells_nvlinks ? machine_.nvlinks : usual_nvlinks_, through_switch);
  }
  /// Says whether usual NVLinks are assumed: boards have them, but a bridge would have to be seen.
  bool has_usual_nvlinks() const {
    return !machine_.tells_nvlinks && parts_.gpu.ports.nvlinks > 0 && !parts_.gpu.ports.bridged &&
           gpus_of(machine_) > 1 && !has_power9_nvlinks();
  }

  void add_nvlinks() {
    std::map<int, std::vector<std::string>> groups;
    const auto gpu = [](int i) { return fmt::format("gpu{}", i); };
    if (!usual_nvlinks_.empty())
      assume(fmt::format("NVLinks: as boards with {} have them; no file tells", parts_.gpu.name));
    for (const MachineNvlinks& link : usual_nvlinks_.empty() ? machine_.nvlinks : usual_nvlinks_)
      groups[link.count].push_back(
          device_pair(gpu(link.gpu), link.other < 0 ? "nvswitch0" : gpu(link.other)));
    if (groups.empty() && has_power9_nvlinks()) add_power9_nvlinks(groups);
    const std::string type = parts_.gpu.ports.nvlink.empty() ? "nvlink3" : parts_.gpu.ports.nvlink;
    for (const auto& [count, pairs] : groups)
      add_group(type, count, machine_.tells_nvlinks ? "" : "assumed", pairs);
  }

  void add_power9_nvlinks(std::map<int, std::vector<std::string>>& groups) {
    const std::vector<int> gpus = machine_.of_kind(PartKind::gpu);
    for (const int a : gpus) {
      for (const int b : gpus) {
        if (a < b && socket_of(a) == socket_of(b))
          groups[kPower9Nvlinks / neighbour_gpus(a)].push_back(device_pair(device_of(a), device_of(b)));
      }
    }
  }

  Machine machine_;
  const ImportAnswers& answers_;
  const KindPlace& place_;
  NodeParts parts_;
  std::vector<MachineNvlinks> usual_nvlinks_;  ///< where no file tells
  std::vector<int> adapters_;                  ///< parts that carry training traffic
  std::string network_, network_because_;
  std::vector<std::string> assumptions_;
  ClusterText out_;
};

}  // namespace

ImportedNode write_imported_node(const Machine& machine, const ImportAnswers& answers,
                                 const KindPlace& place) {
  return ImportedWriter(machine, answers, place).write();
}

}  // namespace foretrain

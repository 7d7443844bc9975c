// Finds values of a cluster file that look wrong. Each warning compares a value with the catalog's, or a
// device with the others of its kind.
//
// A warning never prevents a prediction: every such cluster can be built.
#include "sim/report/topology/cluster_warnings.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/import/jobs/requested_gpus.hpp"
#include "sim/report/topology/node_view.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

// Rates that differ by less than this factor are the same link, measured twice.
constexpr double kSameRate = 0.9;

// Collects the warnings of one cluster.
class WarningSearch {
 public:
  explicit WarningSearch(const ClusterSpec& spec) : spec_(spec), node_(spec.node) {}

  /// Returns all warnings, in the order of the functions below.
  std::vector<ClusterWarning> all() {
    warn_of_far_nics();
    warn_of_slots();
    warn_of_nvlinks();
    warn_of_nic_slots();
    warn_of_gpu_type();
    return std::move(doubts_);
  }

 private:
  /// Adds a warning; line 0 means that no single line is wrong.
  void warn(std::string what, std::string hint, int line = 0) {
    doubts_.push_back({std::move(what), std::move(hint), line});
  }

  /// Returns the names of the GPUs, separated by commas.
  static std::string listed(const std::vector<int>& gpus) {
    std::string out;
    for (const int gpu : gpus) out += (out.empty() ? "" : ", ") + gpu_name(gpu);
    return out;
  }

  // Many servers have one adapter for two sockets. But when there are as many adapters as sockets and a
  // socket has none, that is probably a mistake.
  void warn_of_far_nics() {
    if (node_.nics == 0) return;
    const Cluster cluster = Cluster::build(spec_, 1);
    std::map<int, std::vector<int>> far;
    std::set<VertexId> cpus;
    for (int gpu = 0; gpu < node_.gpus; ++gpu) {
      const int nic = nearest_nic(cluster, gpu);
      cpus.insert(cluster.cpu_of_gpu(0, gpu));
      if (path_class(cluster, cluster.gpu(0, gpu), cluster.nic(0, nic)) == PathClass::sys)
        far[nic].push_back(gpu);
    }
    if (static_cast<std::size_t>(node_.nics) < cpus.size()) return;
    for (const auto& [nic, gpus] : far)
      warn(fmt::format("the nearest NIC of {} is {}, behind the other socket (SYS)", listed(gpus),
                       nic_name(nic)),
           "nics_at says where adapters are; `nvidia-smi topo -m` shows which of them are at that socket");
  }

  // GPUs in slots that are narrower than their product can use; those with the same link share a warning.
  void warn_of_slots() {
    const std::string& port = node_.gpu.ports.host;
    if (port.empty() || !port.starts_with("pcie")) return;
    const LinkType best = open_value(CatalogKind::links, port, read_link_type);
    std::map<std::string, std::vector<int>> below;
    std::map<std::string, const NodeLink*> links;
    for (int gpu = 0; gpu < node_.gpus; ++gpu) {
      const NodeLink* link = host_link_at(node_, gpu_name(gpu));
      if (link == nullptr || link->type.kind != LinkKind::pcie || !is_below(*link, best)) continue;
      below[link->type.name].push_back(gpu);
      links[link->type.name] = link;
    }
    for (const auto& [name, gpus] : below)
      warn(fmt::format("{} at {} ({}), where {} takes {} ({})",
                       static_cast<int>(gpus.size()) == node_.gpus
                           ? "GPUs hang"
                           : listed(gpus) + (gpus.size() == 1 ? " hangs" : " hang"),
                       name, to_string(links[name]->type.bandwidth * links[name]->count), node_.gpu.name,
                       port, to_string(best.bandwidth)),
           "right in an older server or a slot with fewer lanes; else the lanes did not all train: `lspci "
           "-vv`, LnkSta against LnkCap",
           links[name]->span.line);
  }

  /// Returns true when the links are clearly slower than `best`.
  static bool is_below(const NodeLink& link, const LinkType& best) {
    return link.type.bandwidth.per_second * link.count < kSameRate * best.bandwidth.per_second;
  }

  // GPUs with fewer NVLinks than their product has.
  void warn_of_nvlinks() {
    const NvlinkCounts counts = nvlink_counts(node_);
    const int usual = node_.gpu.ports.nvlinks;
    // Products of AMD count links of several kinds, which nodes distribute as they like.
    const bool is_free = is_amd(node_.gpu.architecture) || (counts.empty() && node_.gpu.ports.bridged);
    if (node_.gpus < 2 || usual == 0 || is_free) return;
    std::map<int, std::vector<int>> below;
    for (int gpu = 0; gpu < node_.gpus; ++gpu) {
      const int count = counts.of(static_cast<std::size_t>(gpu));
      if (count < usual) below[count].push_back(gpu);
    }
    for (const auto& [count, gpus] : below)
      warn(
          fmt::format("{} {} of the {} of {}",
                      static_cast<int>(gpus.size()) == node_.gpus
                          ? "every GPU has"
                          : listed(gpus) + (gpus.size() == 1 ? " has" : " have"),
                      count, counted(usual, "NVLink"), node_.gpu.name),
          "count of [[node.links]] is the number between two devices; `nvidia-smi nvlink -s` shows which are "
          "up");
  }

  // Adapters that are faster than their slot.
  void warn_of_nic_slots() {
    const LinkType& port = spec_.fabric.link;
    // Above an NVLink domain, the adapters' link is not that of the fabric.
    if (spec_.nodes < 2 || spec_.fabric.nvlink_domain > 1) return;
    for (int nic = 0; nic < node_.nics; ++nic) {
      const NodeLink* link = host_link_at(node_, nic_name(nic));
      if (link == nullptr || !is_below(*link, port)) continue;
      return warn(fmt::format("{} of {} hangs at {} with {}", nic_name(nic), to_string(port.bandwidth),
                              link->type.name, to_string(link->type.bandwidth * link->count)),
                  "nic_link is its slot; a port is not faster than its slot", link->span.line);
    }
  }

  // A word in site.gpu_type, with which jobs request GPUs, that names another product than the nodes have.
  void warn_of_gpu_type() {
    const std::string& type = spec_.site.gpu_type;
    const std::vector<std::string> known = names_in(CatalogKind::gpus);
    const auto is_named = [&type](const std::string& gpu) { return names_product(type, gpu); };
    const auto named = std::ranges::find_if(known, is_named);
    if (type.empty() || named == known.end() || names_product(type, node_.gpu.name)) return;
    warn(fmt::format("site.gpu_type {} names {}, and the nodes have {}", type, *named, node_.gpu.name),
         "gpu_type is the word of --gres=gpu:TYPE:N, or node.gpu is another GPU");
  }

  const ClusterSpec& spec_;
  const NodeSpec& node_;
  std::vector<ClusterWarning> doubts_;
};

}  // namespace

std::vector<ClusterWarning> cluster_warnings(const ClusterSpec& spec) { return WarningSearch(spec).all(); }

}  // namespace foretrain

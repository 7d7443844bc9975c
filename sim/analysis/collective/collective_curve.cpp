// Cluster and communicator are built once; every size is then one call. Names of links are kept once for all
// sizes, and points refer to them by index.
#include "sim/analysis/collective/collective_curve.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/node_kinds.hpp"

namespace foretrain {

namespace {

/// Bytes of a float, and alignment of a rank's part in nccl-tests.
constexpr std::int64_t kFloat = 4, kAlignment = 16;

/// Returns true if every rank has a part of the message of its own.
bool has_parts(CollectiveOp op) {
  using O = CollectiveOp;
  return op == O::reduce_scatter || op == O::all_gather || op == O::alltoall || op == O::gather ||
         op == O::scatter;
}

/// Names of bottlenecks; each link is written once.
class LinkNames {
 public:
  LinkNames(const Cluster& cluster, std::vector<std::string>& names) : cluster_(cluster), names_(names) {}

  /// Returns the index of a link's name, -1 for no link.
  int index_of(LinkId link) {
    return link == kNone ? -1 : index_of(link, [&] { return describe_link(cluster_, link); });
  }
  /// Returns the index of the memory of a CPU, which is the bottleneck where no link is.
  int index_of_copies() {
    return index_of(kNone, [] { return std::string("copies in the memory of a CPU"); });
  }

 private:
  template <typename Describe>
  int index_of(LinkId link, Describe describe) {
    const auto known = std::ranges::find(links_, link);
    if (known != links_.end()) return static_cast<int>(known - links_.begin());
    links_.push_back(link);
    names_.push_back(describe());
    return static_cast<int>(links_.size()) - 1;
  }

  const Cluster& cluster_;
  std::vector<std::string>& names_;
  std::vector<LinkId> links_;
};

/// Returns the bound of a call. `alone` is its isolated latency at the requested fidelity, `hidden` the
/// overlapped part of it.
BoundBy bound_of(const CollectivePlan& plan, Time alone, Time hidden) {
  if (plan.launch > alone - hidden) return BoundBy::launch;
  if (plan.timing.latency() - hidden >= plan.timing.data) return BoundBy::latency;
  return plan.timing.channel_bound ? BoundBy::thread_blocks : BoundBy::link;
}

/// Makes points by NCCL and remembers whether NCCL always followed the forced algorithm and protocol.
class NcclPoints {
 public:
  NcclPoints(const CollectiveQuestion& question, const Cluster& cluster, const Placement& placement,
             LinkNames& names)
      : question_(question), names_(names), communicator_(cluster, placement, question.settings) {}

  CollectivePoint point(Bytes size) {
    CollectivePlan plan = communicator_.plan(question_.op, size, question_.explain);
    const Time alone = simulate(communicator_, plan, question_.fidelity);
    CollectivePoint p;
    p.size = size;
    p.launch = plan.launch;
    // Overlap shortens calls in a loop only, and a loop is never faster than its launches.
    p.hidden = question_.single ? Time::zero() : std::min(plan.hidden, alone);
    p.time = question_.single ? plan.launch + alone : std::max(alone - p.hidden, plan.launch);
    p.algorithm = plan.algorithm_name(), p.protocol = name_of(plan.protocol), p.channels = plan.channels;
    p.timing = plan.timing;
    p.reach = reach_of(communicator_, plan), p.kind = evidence_of(communicator_, plan);
    p.bound = bound_of(plan, alone, p.hidden);
    p.bottleneck = names_.index_of(plan.bottleneck.link);
    p.why = std::move(plan.why);
    const nccl::Settings& nccl = question_.settings.nccl;
    // The warning about forced settings is about all sizes together.
    obeyed_ = obeyed_ && (!nccl.algorithm || nccl.algorithm == plan.algorithm) &&
              (!nccl.protocol || *nccl.protocol == plan.protocol);
    return p;
  }

  /// Returns the warning about forced settings that had no effect.
  std::vector<std::string> warnings() const {
    const nccl::Settings& nccl = question_.settings.nccl;
    const bool forces = nccl.algorithm || nccl.protocol;
    if (!forces || communicator_.size() < 2) return {};
    const std::string wish = fmt::format("{}{}{}", nccl.algorithm ? nccl::name_of(*nccl.algorithm) : "",
                                         nccl.algorithm && nccl.protocol ? " with " : "",
                                         nccl.protocol ? name_of(*nccl.protocol) : "");
    // Operations made of sends and receives have no algorithm to force.
    if (!nccl::is_tuned(question_.op))
      return {fmt::format("{} has no effect on {}: NCCL makes it of sends and receives", wish,
                          name_of(question_.op))};
    if (obeyed_) return {};
    return {fmt::format(
        "{} cannot do {} here at every size; there NCCL's own choice stands (NCCL itself may stop)", wish,
        name_of(question_.op))};
  }

 private:
  const CollectiveQuestion& question_;
  LinkNames& names_;
  Communicator communicator_;
  bool obeyed_ = true;
};

/// Completes a point whose time is known. Throws InputError when it takes longer than the clock can hold.
void finish(CollectivePoint& p, const CollectiveQuestion& question, int ranks) {
  if (p.time >= kLongestTime) {
    throw InputError(fmt::format("{} of {} takes longer than {}", name_of(question.op), to_string(p.size),
                                 to_string(kLongestTime)),
                     "ask for smaller sizes");
  }
  set_bandwidths(p, question.op, ranks);
}

/// Adds a point for each size; empty messages are handled here, so `point_of` never gets one.
template <typename PointOf>
void add_points(const CollectiveQuestion& question, CollectiveCurve& curve, PointOf point_of) {
  curve.points.reserve(question.sizes.size());
  for (const Bytes asked : question.sizes) {
    const Bytes size = run_size(question.op, asked, curve.gpus());
    CollectivePoint p;
    if (size.count > 0) p = point_of(size);
    if (size.count == 0 && question.explain) p.why = "nothing to send: nothing is launched";
    finish(p, question, curve.gpus());
    curve.points.push_back(std::move(p));
  }
}

/// Returns the point of one size over a transport. Throws InputError for an operation that the library lacks.
CollectivePoint over_transport(const CollectiveQuestion& question, Bytes size, TransportRequest& job,
                               LinkNames& names) {
  const TransportRun run = job.run(question.op, size, question.transport_algorithm, question.fidelity);
  CollectivePoint p = transport_point(*question.transport, size, run);
  if (p.channels == 0 && question.gpus > 1)
    throw InputError(fmt::format("{} has no {}", question.transport->library, name_of(question.op)), p.why);
  if (p.channels > 0)
    p.bottleneck = run.bottleneck == kNone ? names.index_of_copies() : names.index_of(run.bottleneck);
  if (!question.explain) p.why.clear();
  return p;
}

}  // namespace

std::string_view name_of(BoundBy bound) {
  static constexpr std::array<std::string_view, 6> kNames{"-",    "launch", "latency", "thread blocks",
                                                          "host", "link"};
  return kNames[static_cast<std::size_t>(bound)];
}

void set_bandwidths(CollectivePoint& p, CollectiveOp op, int ranks) {
  if (p.time == Time::zero()) return;
  p.algbw = {static_cast<double>(p.size.count) / to_seconds(p.time)};
  p.busbw = p.algbw * busbw_factor(op, ranks);
}

std::optional<TimeRange> interval_of(const CollectivePoint& point) {
  if (point.channels == 0 || !(point.reach.above > 0)) return std::nullopt;
  return time_range(point.time, point.reach);
}

Bytes run_size(CollectiveOp op, Bytes size, int ranks) {
  if (!has_parts(op)) return {size.count / kFloat * kFloat};
  return Bytes{size.count / ranks / kAlignment * kAlignment} * ranks;
}

std::int64_t counted_elements(CollectiveOp op, Bytes size, int ranks) {
  return size.count / kFloat / (has_parts(op) ? ranks : 1);
}

int usual_processes_per_node(int nodes) { return nodes > 1 ? 0 : 1; }

namespace {

/// Places ranks on the first nodes of a mixed cluster, whose nodes may have unlike numbers of GPUs.
Placement place_on_unlike(const ClusterSpec& cluster, int gpus, int nodes) {
  const std::vector<NodeCapacity> rooms = node_capacities_of(cluster, nodes);
  int all = 0;
  for (const NodeCapacity& room : rooms) all += room.gpus;
  if (gpus > all)
    throw InputError(
        fmt::format("{} GPUs do not fit on the first {} of {}", gpus, counted(nodes, "node"), cluster.name),
        fmt::format("they have {}", counted(all, "GPU")));
  return place_on(rooms, gpus, Layout::spread);
}

}  // namespace

Placement place_job(const ClusterSpec& cluster, int gpus, int nodes) {
  const int per_node = cluster.node.gpus;
  const std::int64_t all = gpu_count(cluster);
  if (gpus < 1) throw InputError(fmt::format("{} GPUs run nothing", gpus), "at least one; one GPU copies");
  if (gpus > all)
    throw InputError(fmt::format("cluster {} has {}, not {}", cluster.name, counted(all, "GPU"), gpus));
  if (nodes < 0 || nodes > cluster.nodes)
    throw InputError(
        fmt::format("cluster {} has {}, not {}", cluster.name, counted(cluster.nodes, "node"), nodes));
  // Nodes of a mixed cluster may differ in their number of GPUs, so they are placed by capacity.
  if (nodes == 0 && is_mixed(cluster))
    return place_on(node_capacities_of(cluster, cluster.nodes), gpus, Layout::packed);
  if (nodes == 0) return place_packed(gpus, per_node);
  if (nodes > gpus)
    throw InputError(fmt::format("{} {} some of {} nodes empty", counted(gpus, "GPU"),
                                 gpus == 1 ? "leaves" : "leave", nodes),
                     "at most one node per GPU");
  if (is_mixed(cluster)) return place_on_unlike(cluster, gpus, nodes);
  if (gpus > std::int64_t{nodes} * per_node) {
    throw InputError(
        fmt::format("{} GPUs do not fit on {} of {}", gpus, counted(nodes, "node"), cluster.name),
        fmt::format("a node has {}; take {} nodes", per_node, (gpus + per_node - 1) / per_node));
  }
  return place(gpus, per_node, Layout::spread, nodes);
}

/// A transport has its own planner; otherwise NCCL plans each size.
CollectiveCurve predict_collective(const CollectiveQuestion& question) {
  CollectiveCurve curve;
  curve.cluster = question.cluster.name, curve.gpu = question.cluster.node.gpu.name;
  curve.op = question.op;
  curve.placement = place_job(question.cluster, question.gpus, question.nodes);
  curve.fidelity = question.fidelity;
  const Cluster cluster = Cluster::build(question.cluster, curve.placement.nodes);
  LinkNames names(cluster, curve.links);
  if (question.transport) {
    curve.library = question.transport->library;
    TransportRequest job(cluster, curve.placement, *question.transport);
    add_points(question, curve, [&](Bytes size) { return over_transport(question, size, job, names); });
    return curve;
  }
  curve.library = "NCCL " + nccl::to_text(question.settings.nccl.version);
  curve.processes_per_node = question.settings.processes_per_node;
  curve.threads_per_process = question.settings.threads_per_process;
  curve.single = question.single, curve.isolation = question.settings.nccl.isolation;
  NcclPoints nccl(question, cluster, curve.placement, names);
  add_points(question, curve, [&](Bytes size) { return nccl.point(size); });
  curve.warnings = nccl.warnings();
  return curve;
}

}  // namespace foretrain

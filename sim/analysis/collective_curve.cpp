// Cluster and communicator are built once; every size is then one call. Names of links are kept once for all sizes.
#include "sim/analysis/collective_curve.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/collective_bottleneck.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kFloat = 4, kAlignment = 16;

/// Every rank has a part of the message of its own.
bool has_parts(CollectiveOp op) {
  using O = CollectiveOp;
  return op == O::reduce_scatter || op == O::all_gather || op == O::alltoall || op == O::gather || op == O::scatter;
}

class CurvePredictor {
 public:
  explicit CurvePredictor(const CollectiveQuestion& question)
      : question_(question),
        placement_(place_job(question.cluster, question.gpus, question.nodes)),
        cluster_(Cluster::build(question.cluster, placement_.nodes)),
        communicator_(cluster_, placement_, question.settings) {}

  CollectiveCurve predict() {
    curve_.cluster = question_.cluster.name;
    curve_.gpu = question_.cluster.node.gpu.name;
    curve_.op = question_.op;
    curve_.placement = placement_;
    curve_.processes_per_node = question_.settings.processes_per_node;
    curve_.nccl_version = question_.settings.nccl.version;
    curve_.fidelity = question_.fidelity;
    curve_.points.reserve(question_.sizes.size());
    for (const Bytes size : question_.sizes) curve_.points.push_back(point(run_size(question_.op, size, curve_.gpus())));
    warn_of_settings();
    return std::move(curve_);
  }

 private:
  CollectivePoint point(Bytes size) {
    CollectivePoint p;
    p.size = size;
    if (size.count == 0) {
      if (question_.explain) p.why = "nothing to send: NCCL launches nothing";
      return p;
    }
    CollectivePlan plan = communicator_.plan(question_.op, size, question_.explain);
    const Time alone = simulate(communicator_, plan, question_.fidelity);
    p.launch = plan.launch;
    p.time = std::max(alone, plan.launch);
    refuse_endless(p);
    p.algbw = {static_cast<double>(size.count) / to_seconds(p.time)};
    p.busbw = p.algbw * busbw_factor(question_.op, curve_.gpus());
    p.algorithm = plan.algorithm_name(), p.protocol = plan.protocol, p.channels = plan.channels;
    p.timing = plan.timing;
    p.bound = bound_of(plan, alone);
    p.bottleneck = index_of(plan.bottleneck.link);
    p.why = std::move(plan.why);
    forced_ = forced_ && took_what_was_forced(plan);
    return p;
  }

  void refuse_endless(const CollectivePoint& p) const {
    if (p.time < kLongestTime) return;
    throw InputError(fmt::format("{} of {} take longer than {}", name_of(question_.op), to_string(p.size), to_string(kLongestTime)),
                     "ask for smaller sizes");
  }

  static BoundBy bound_of(const CollectivePlan& plan, Time alone) {
    if (plan.launch > alone) return BoundBy::launch;
    if (plan.timing.latency() >= plan.timing.data) return BoundBy::latency;
    return plan.timing.channel_bound ? BoundBy::thread_blocks : BoundBy::link;
  }

  int index_of(LinkId link) {
    if (link == kNone) return -1;
    const auto known = std::ranges::find(named_, link);
    if (known == named_.end()) {
      named_.push_back(link);
      curve_.links.push_back(describe_link(cluster_, link));
      return static_cast<int>(named_.size()) - 1;
    }
    return static_cast<int>(known - named_.begin());
  }

  bool took_what_was_forced(const CollectivePlan& plan) const {
    const nccl::Settings& nccl = question_.settings.nccl;
    return !nccl::is_tuned(question_.op) ||
           ((!nccl.algorithm || nccl.algorithm == plan.algorithm) && (!nccl.protocol || *nccl.protocol == plan.protocol));
  }

  void warn_of_settings() {
    const nccl::Settings& nccl = question_.settings.nccl;
    const bool forces = nccl.algorithm || nccl.protocol;
    if (!forces || curve_.gpus() < 2) return;
    const std::string wish = fmt::format("{}{}{}", nccl.algorithm ? nccl::name_of(*nccl.algorithm) : "",
                                         nccl.algorithm && nccl.protocol ? " with " : "", nccl.protocol ? name_of(*nccl.protocol) : "");
    if (!nccl::is_tuned(question_.op))
      curve_.warnings.push_back(fmt::format("{} has no effect on {}: NCCL makes it of sends and receives", wish, name_of(question_.op)));
    else if (!forced_)
      curve_.warnings.push_back(fmt::format("{} cannot do {} here at every size; there NCCL's own choice stands (NCCL itself may stop)",
                                            wish, name_of(question_.op)));
  }

  const CollectiveQuestion& question_;
  Placement placement_;
  Cluster cluster_;
  Communicator communicator_;
  CollectiveCurve curve_;
  std::vector<LinkId> named_;
  bool forced_ = true;
};

}  // namespace

std::string_view name_of(BoundBy bound) {
  static constexpr std::array<std::string_view, 5> kNames{"-", "launch", "latency", "thread blocks", "link"};
  return kNames[static_cast<std::size_t>(bound)];
}

Bytes run_size(CollectiveOp op, Bytes size, int ranks) {
  if (!has_parts(op)) return {size.count / kFloat * kFloat};
  return Bytes{size.count / ranks / kAlignment * kAlignment} * ranks;
}

std::int64_t counted_elements(CollectiveOp op, Bytes size, int ranks) { return size.count / kFloat / (has_parts(op) ? ranks : 1); }

Placement place_job(const ClusterSpec& cluster, int gpus, int nodes) {
  const int per_node = cluster.node.gpus;
  const std::int64_t all = std::int64_t{cluster.nodes} * per_node;
  if (gpus < 1) throw InputError(fmt::format("{} GPUs run nothing", gpus), "at least one; one GPU copies");
  if (gpus > all) throw InputError(fmt::format("cluster {} has {} GPUs, not {}", cluster.name, all, gpus));
  if (nodes < 0 || nodes > cluster.nodes)
    throw InputError(fmt::format("cluster {} has {} nodes, not {}", cluster.name, cluster.nodes, nodes));
  if (nodes == 0) return place_packed(gpus, per_node);
  if (nodes > gpus) throw InputError(fmt::format("{} GPUs leave some of {} nodes empty", gpus, nodes), "at most one node per GPU");
  if (gpus > std::int64_t{nodes} * per_node) {
    throw InputError(fmt::format("{} GPUs do not fit on {} node{} of {}", gpus, nodes, nodes == 1 ? "" : "s", cluster.name),
                     fmt::format("a node has {}; take {} nodes", per_node, (gpus + per_node - 1) / per_node));
  }
  return place(gpus, per_node, Layout::spread, nodes);
}

CollectiveCurve predict_collective(const CollectiveQuestion& question) { return CurvePredictor(question).predict(); }

}  // namespace foretrain

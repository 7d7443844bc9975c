// The tables are written by tools/spreads (evidence.inc).
#include "sim/analysis/uncertainty/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace foretrain {

namespace {

struct CollectiveRow {
  CollectiveEvidence kind;
  KnownTo known;
};
struct KernelRow {
  NetworkKind kind;
  KnownTo known;
};
struct LossRow {
  FrameworkKind framework;
  KnownTo known;
};
struct GrowthRow {
  std::size_t node_class;
  double factor;
};

#define COLLECTIVES(path, family, part, ...) \
  CollectiveRow{{MessagePath::path, OpFamily::family, LongestPart::part}, {__VA_ARGS__}},
#define KERNELS(...)
#define LOSS(...)
#define SCATTER(...)
#define GROWTH(...)
constexpr CollectiveRow kCollectives[] = {
#include "sim/analysis/uncertainty/evidence.inc"
};
#undef COLLECTIVES
#define COLLECTIVES(...)
#undef KERNELS
#define KERNELS(kind, ...) KernelRow{NetworkKind::kind, {__VA_ARGS__}},
constexpr KernelRow kKernels[] = {
#include "sim/analysis/uncertainty/evidence.inc"
};
#undef KERNELS
#define KERNELS(...)
#undef LOSS
#define LOSS(framework, ...) LossRow{FrameworkKind::framework, {__VA_ARGS__}},
constexpr LossRow kLosses[] = {
#include "sim/analysis/uncertainty/evidence.inc"
};
#undef LOSS
#define LOSS(...)
#undef SCATTER
#define SCATTER(framework, ...) LossRow{FrameworkKind::framework, {__VA_ARGS__}},
constexpr LossRow kScatter[] = {
#include "sim/analysis/uncertainty/evidence.inc"
};
#undef SCATTER
#define SCATTER(...)
#undef GROWTH
#define GROWTH(node_class, factor, ...) GrowthRow{node_class, factor},
constexpr GrowthRow kGrowth[] = {
#include "sim/analysis/uncertainty/evidence.inc"
};
#undef GROWTH
#define GROWTH(...)

/// log2 of the number of nodes that stands for each class: 1, 2, 5 and 16.
constexpr std::array<double, 4> kDoublings{0, 1, 2.32, 4};

std::optional<KnownTo> row_of(const CollectiveEvidence& kind) {
  const auto found = std::ranges::find(kCollectives, kind, &CollectiveRow::kind);
  return found == std::end(kCollectives) ? std::nullopt : std::optional(found->known);
}

bool is_gpu_end(const std::string& name) { return name.starts_with("gpu") || name.starts_with("nvswitch"); }

}  // namespace

/// The paths with rows are a sample of five, from which the next one is drawn: Student's t at 95 % with four
/// degrees of freedom, times the root of 1 + 1/5, over the normal quantile.
constexpr double kNextPath = 2.132 * 1.095 / 1.645;

KnownTo spread_of(CollectiveEvidence kind) {
  if (const auto known = row_of(kind)) return *known;
  const bool is_new = kind.path != MessagePath::any;
  kind.path = MessagePath::any;
  KnownTo known = row_of(kind).value_or(row_of({}).value_or(KnownTo{}));
  if (is_new) known.unseen *= kNextPath;
  return known;
}

KnownTo spread_of_kernels(NetworkKind kind) {
  const auto found = std::ranges::find(kKernels, kind, &KernelRow::kind);
  return found != std::end(kKernels) ? found->known
                                     : std::ranges::find(kKernels, NetworkKind::any, &KernelRow::kind)->known;
}

KnownTo loss_of(FrameworkKind framework) {
  return std::ranges::find(kLosses, framework, &LossRow::framework)->known;
}

KnownTo scatter_of(FrameworkKind framework) {
  return std::ranges::find(kScatter, framework, &LossRow::framework)->known;
}

double loss_growth(double times_the_nodes) {
  const double doublings = std::log2(std::max(1.0, times_the_nodes));
  std::size_t i = 1;
  while (i + 1 < std::size(kGrowth) && doublings > kDoublings[i]) ++i;
  const double slope = (kGrowth[i].factor - kGrowth[i - 1].factor) / (kDoublings[i] - kDoublings[i - 1]);
  return kGrowth[i - 1].factor + slope * (doublings - kDoublings[i - 1]);
}

std::size_t node_class(int times_the_nodes) {
  if (times_the_nodes <= 2) return times_the_nodes <= 1 ? 0 : 1;
  return times_the_nodes <= 8 ? 2 : 3;
}

MessagePath path_of(const ClusterSpec& cluster, int nodes) {
  if (nodes < 2) {
    const bool nvlink = std::ranges::any_of(cluster.node.links, [](const NodeLink& link) {
      return link.type.kind == LinkKind::nvlink && is_gpu_end(link.a) && is_gpu_end(link.b);
    });
    return nvlink ? MessagePath::nvlink : MessagePath::pcie;
  }
  struct Prefix {
    std::string_view begin;
    MessagePath path;
  };
  constexpr Prefix kPrefixes[] = {{"ib_", MessagePath::infiniband},      {"opa", MessagePath::infiniband},
                                  {"roce", MessagePath::roce},           {"efa", MessagePath::efa},
                                  {"slingshot", MessagePath::slingshot}, {"eth_", MessagePath::sockets},
                                  {"tcp", MessagePath::sockets},         {"veth", MessagePath::sockets}};
  for (const auto& [begin, path] : kPrefixes)
    if (cluster.fabric.link.name.starts_with(begin)) return path;
  return MessagePath::other_network;
}

NetworkKind network_kind(const Scenario& scenario) {
  double conv = 0, serial = 0, all = 0;
  for (const Operator& op : scenario.workload.model->forward) {
    for (std::size_t i = 0; i < op.product_count; ++i) {
      const double flops = op.products[i].flops_per_sample();
      all += flops;
      if (op.products[i].serial > 1) serial += flops;
      if (op.cls == OperatorClass::conv || op.cls == OperatorClass::depthwise_conv) conv += flops;
    }
  }
  if (serial > all / 4) return NetworkKind::recurrent;
  return conv > all / 2 ? NetworkKind::convolutions : NetworkKind::products;
}

}  // namespace foretrain

// One row per stage; the tables of constants say the rest.
#include "sim/analysis/fit/calibration_stages.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/collective/costs.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/workload/device/device_constants.hpp"

namespace foretrain {

namespace {

using Wanted = std::vector<WantedConstant>;

template <class Holder, class Chosen>
void add(Wanted& wanted, const std::vector<ConstantOf<Holder>>& table, const Holder& holder,
         const Chosen& chosen) {
  for (const ConstantOf<Holder>& row : table) {
    if (chosen(row.range.name)) wanted.push_back({row.range, row.get(holder)});
  }
}

template <class Holder>
void add(Wanted& wanted, const std::vector<ConstantOf<Holder>>& table, const Holder& holder,
         std::vector<std::string_view> names) {
  add(wanted, table, holder, [&](const std::string& name) { return std::ranges::count(names, name) > 0; });
}

/// What a link may reach: its line rate; where that is unknown, so much more than the catalog says.
constexpr double kAboveCatalog = 1.3;
double most_of(const LinkType& link) {
  return link.line_rate.per_second > 0 ? link.line_rate.per_second
                                       : kAboveCatalog * link.bandwidth.per_second;
}

void add_links(Wanted& wanted, const ClusterSpec& cluster, const std::vector<std::string_view>& names) {
  for (const LinkType& link : link_types_of(cluster)) {
    Wanted own;
    add(own, link_constants(), link, names);
    for (WantedConstant& constant : own) {
      if (constant.range.name == "bandwidth") constant.range.most = most_of(link);
      if (constant.range.name == "collective_efficiency")
        constant.range.most = most_of(link) / link.bandwidth.per_second;
      constant.range.name = name_of_link_constant(link.name, constant.range.name);
      wanted.push_back(constant);
    }
  }
}

Wanted host_constants_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, host_constants(), cluster.node.host, {"host.slowdown", "host.memory_bandwidth"});
  return wanted;
}

Wanted copies_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add_links(wanted, cluster, {"bandwidth", "latency"});
  add(wanted, gpu_constants(), cluster.node.gpu, {"gpu.staging_share"});
  return wanted;
}

Wanted memory_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, gpu_constants(), cluster.node.gpu, {"gpu.memory_efficiency"});
  add(wanted, kernel_constants(), kernel_calibration_of(cluster), {"kernel.cache_speed", "kernel.minimum"});
  return wanted;
}

/// Starts from what an earlier stage found, since a launch is measured on the host that stage fitted.
Wanted calls_of(const ClusterSpec& cluster) {
  Wanted wanted;
  HostCalibration calls;
  apply(cluster.calibration, host_call_constants(), calls);
  add(wanted, host_call_constants(), calls, [](const std::string& name) { return name != kHostTimeScale; });
  add(wanted, kernel_constants(), kernel_calibration_of(cluster), {"kernel.launch_gap"});
  return wanted;
}

Wanted products_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, kernel_constants(), kernel_calibration_of(cluster), [](const std::string& name) {
    return name.starts_with("gemm.") || name.starts_with("conv.") || name == "kernel.operand_loading" ||
           name == "kernel.prologue_depth" || name == "kernel.roofline_power";
  });
  return wanted;
}

/// A kernel shorter than its launch does not show in a loop of calls: the fit begins where it would.
void begin_behind_launches(WantedConstant& kernel, const CollectiveCosts& costs) {
  kernel.start = std::max(kernel.start, 1.05 * to_seconds(costs.launch));
}

Wanted collectives_of(const ClusterSpec& cluster) {
  Wanted wanted;
  const CollectiveCosts costs = costs_of(cluster);
  // Simple's share of a link is the link's collective_efficiency.
  add(wanted, collective_constants(), costs,
      [](const std::string& name) { return !name.ends_with("efficiency.simple"); });
  add_links(wanted, cluster, {"collective_efficiency", "collective_latency", "rendezvous_latency"});
  for (WantedConstant& constant : wanted) {
    if (constant.range.name.ends_with(".collective_latency") && constant.start <= 0)
      constant.start = to_seconds(costs.default_network_step);
    if (constant.range.name == "nccl.kernel") begin_behind_launches(constant, costs);
  }
  return wanted;
}

Wanted tax_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, loss_constants(), losses_of(cluster), {"loss.collective_share"});
  return wanted;
}

/// One factor on all kernels and one on all calls of the host: what single operators leave open about whole
/// networks. Steps that wait for the GPU tell the one, those that wait for the host the other.
Wanted training_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, kernel_constants(), kernel_calibration_of(cluster), {"kernel.time_scale"});
  add(wanted, host_call_constants(), HostCalibration{}, {kHostTimeScale});
  return wanted;
}

bool is_one_way(const Sample& sample) { return number_of(sample, "both_ways", 0) == 0; }

}  // namespace

/// In the order in which one needs the other: collectives run over links, trainings on everything.
const std::vector<CalibrationStage>& calibration_stages() {
  static const std::vector<CalibrationStage> stages{
      {"host", [](const Sample& s) { return s.kind == SampleKind::cpu; }, host_constants_of},
      {"links",
       [](const Sample& s) {
         return (s.kind == SampleKind::copy && s.what != "d2d" && is_one_way(s)) ||
                (s.kind == SampleKind::network && is_one_way(s));
       },
       copies_of},
      {"memory",
       [](const Sample& s) {
         return s.kind == SampleKind::memory || (s.kind == SampleKind::copy && s.what == "d2d");
       },
       memory_of},
      {"calls", [](const Sample& s) { return s.kind == SampleKind::host; }, calls_of},
      {"matrix products",
       [](const Sample& s) { return s.kind == SampleKind::gemm || s.kind == SampleKind::conv; }, products_of},
      {"collectives", [](const Sample& s) { return s.kind == SampleKind::collective; }, collectives_of},
      {"tax", [](const Sample& s) { return s.kind == SampleKind::tax && s.value > 0; }, tax_of},
      {"training", [](const Sample& s) { return s.kind == SampleKind::training && s.gpus == 1; },
       training_of},
  };
  return stages;
}

std::string why_impossible(const ClusterSpec& cluster, const Sample& sample) {
  const double ways = is_one_way(sample) ? 1 : 2;
  if (sample.kind == SampleKind::network && sample.unit == SampleUnit::gigabytes_per_s) {
    const double most = ways * most_of(cluster.fabric.link) / 1e9 * std::max(1, cluster.node.nics);
    if (most > 0 && sample.value > most)
      return fmt::format("{:.4g} GBps is above the wire's {:.4g} ({})", sample.value, most,
                         cluster.fabric.link.name);
  }
  if (sample.kind == SampleKind::copy && sample.unit == SampleUnit::gigabytes_per_s) {
    const double memory = cluster.node.gpu.memory_bandwidth.per_second / 1e9;
    if (memory > 0 && sample.value > memory * static_cast<double>(number_of(sample, "together", 1)))
      return fmt::format("{:.4g} GBps is above the GPU's memory, {:.4g}", sample.value, memory);
  }
  if (sample.kind == SampleKind::collective && sample.unit == SampleUnit::us && sample.value < 1)
    return "less than a kernel's launch";
  return "";
}

}  // namespace foretrain

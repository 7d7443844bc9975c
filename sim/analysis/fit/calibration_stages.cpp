// The table of stages. The tables of constants define names, ranges and priors; a stage chooses among them.
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

/// Adds the rows of a table that `chosen` accepts, with the holder's present values.
template <class Holder, class Chosen>
void add(Wanted& wanted, const std::vector<ConstantOf<Holder>>& table, const Holder& holder,
         const Chosen& chosen) {
  for (const ConstantOf<Holder>& row : table) {
    if (chosen(row.range.name)) wanted.push_back({row.range, row.get(holder)});
  }
}

/// Adds the rows of a table with these names.
template <class Holder>
void add(Wanted& wanted, const std::vector<ConstantOf<Holder>>& table, const Holder& holder,
         std::vector<std::string_view> names) {
  add(wanted, table, holder, [&](const std::string& name) { return std::ranges::count(names, name) > 0; });
}

/// Limit of a link's bandwidth where its line rate is unknown, relative to the catalog's value.
constexpr double kAboveCatalog = 1.3;
/// Returns the largest bandwidth that a link may reach.
double most_of(const LinkType& link) {
  return link.line_rate.per_second > 0 ? link.line_rate.per_second
                                       : kAboveCatalog * link.bandwidth.per_second;
}

/// Adds constants of every type of link; a wire limits its bandwidth and its share in collectives.
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

/// Speed and memory bandwidth of the host, from its own benchmarks.
Wanted host_constants_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, host_constants(), cluster.node.host, {"host.slowdown", "host.memory_bandwidth"});
  return wanted;
}

/// Copies between host and GPU and messages determine links.
Wanted copies_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add_links(wanted, cluster, {"bandwidth", "latency"});
  add(wanted, gpu_constants(), cluster.node.gpu, {"gpu.staging_share"});
  return wanted;
}

/// Kernels that only move bytes determine the memory's efficiency and the shortest kernel.
Wanted memory_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, gpu_constants(), cluster.node.gpu, {"gpu.memory_efficiency"});
  add(wanted, kernel_constants(), kernel_calibration_of(cluster), {"kernel.cache_speed", "kernel.minimum"});
  return wanted;
}

/// Starts from the values of an earlier stage, because a launch is measured on the host that stage fitted.
Wanted calls_of(const ClusterSpec& cluster) {
  Wanted wanted;
  HostCalibration calls;
  apply(cluster.calibration, host_call_constants(), calls);
  // The factor on all calls cannot be told from the single calls, so it is left to the stage of trainings.
  add(wanted, host_call_constants(), calls, [](const std::string& name) { return name != kHostTimeScale; });
  add(wanted, kernel_constants(), kernel_calibration_of(cluster), {"kernel.launch_gap"});
  return wanted;
}

/// Shapes of products and convolutions determine tiles, prologue and roofline.
Wanted products_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, kernel_constants(), kernel_calibration_of(cluster), [](const std::string& name) {
    return name.starts_with("gemm.") || name.starts_with("conv.") || name == "kernel.operand_loading" ||
           name == "kernel.prologue_depth" || name == "kernel.roofline_power";
  });
  return wanted;
}

/// Raises the start to a kernel that is longer than its launch: a shorter one has no effect in a loop of
/// calls, and the fit would see no slope.
void begin_behind_launches(WantedConstant& kernel, const CollectiveCosts& costs) {
  kernel.start = std::max(kernel.start, 1.05 * to_seconds(costs.launch));
}

/// Costs of NCCL and the links' share in collectives.
Wanted collectives_of(const ClusterSpec& cluster) {
  Wanted wanted;
  const CollectiveCosts costs = costs_of(cluster);
  // The Simple protocol's share of a link is the link's own collective_efficiency.
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

/// The share of a GPU that collectives take from kernels.
Wanted tax_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, loss_constants(), losses_of(cluster), {"loss.collective_share"});
  return wanted;
}

/// A factor on all kernels and one on all host calls: what single operators leave open about whole networks.
/// Steps that wait for the GPU determine the first, those that wait for the host the second.
Wanted training_of(const ClusterSpec& cluster) {
  Wanted wanted;
  add(wanted, kernel_constants(), kernel_calibration_of(cluster), {"kernel.time_scale"});
  add(wanted, host_call_constants(), HostCalibration{}, {kHostTimeScale});
  return wanted;
}

/// Returns true for samples with traffic in one direction.
bool is_one_way(const Sample& sample) { return number_of(sample, "both_ways", 0) == 0; }

}  // namespace

/// The order follows the dependencies: collectives run over links, trainings on everything.
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

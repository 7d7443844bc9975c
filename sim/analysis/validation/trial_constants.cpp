// The constants that were fitted to measured rows, and how a cluster gets another value of one.
#include <algorithm>
#include <cmath>

#include "sim/analysis/spreads/kinds.hpp"
#include "sim/analysis/validation/leave_one_out.hpp"
#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/collective/costs.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/workload/device/device_constants.hpp"

namespace foretrain {

namespace {

/// The losses that were fitted to trainings (docs/models/step.md).
constexpr std::string_view kFittedLosses[] = {"loss.rank_spread", "loss.busy_node"};
/// Losses may be 0, so they are fitted in hundredths instead of logarithms.
constexpr double kLossStep = 0.01;
/// The constants of links that were fitted to collectives.
constexpr std::string_view kFittedOfLinks[] = {"collective_efficiency", "collective_latency",
                                               "rendezvous_latency",    "rendezvous_gap",
                                               "copy_latency",          "copy_rate"};

/// Returns the group of a constant that all clusters share.
std::string everybody(const ClusterSpec&) { return ""; }
/// Returns the technology of the cluster's network as a group.
std::string technology(const ClusterSpec& cluster) {
  return std::string(kMessagePathNames[static_cast<std::size_t>(path_of(cluster, 2))]);
}

/// Returns the name of a constant that every cluster has under its family's name.
std::string own_name(const ClusterSpec&, const std::string& family) { return family; }

/// Returns a holder's value of the constant with this name. Requires a name of the table.
template <class Rows, class Holder>
double value_in(const Rows& rows, const Holder& holder, const std::string& name) {
  const auto row = std::ranges::find_if(rows, [&](const auto& c) { return c.range.name == name; });
  return row->get(holder);
}

double collective_value(const ClusterSpec& cluster, const std::string& name) {
  return value_in(collective_constants(), costs_of(cluster), name);
}
double kernel_value(const ClusterSpec& cluster, const std::string& name) {
  return value_in(kernel_constants(), kernel_calibration_of(cluster), name);
}
double loss_value(const ClusterSpec& cluster, const std::string& name) {
  return value_in(loss_constants(), losses_of(cluster), name);
}
double link_value(const ClusterSpec& cluster, const std::string& name) {
  return value_in(link_constants(), cluster.fabric.link, name);
}
/// Returns the name of a constant of the cluster's network link; empty where the link does not set it.
std::string network_name(const ClusterSpec& cluster, const std::string& constant) {
  const std::string& link = cluster.fabric.link.name;
  return link.empty() || !(link_value(cluster, constant) > 0) ? std::string()
                                                              : name_of_link_constant(link, constant);
}

}  // namespace

std::vector<TrialConstant> collective_trials() {
  std::vector<TrialConstant> out;
  for (const auto& row : collective_constants())
    out.push_back({row.range.name, everybody, own_name, collective_value, 0, row.range});
  for (const auto& row : link_constants())
    if (std::ranges::find(kFittedOfLinks, row.range.name) != std::end(kFittedOfLinks))
      out.push_back({row.range.name, technology, network_name, link_value, 0, row.range});
  return out;
}

std::vector<TrialConstant> loss_trials() {
  std::vector<TrialConstant> out;
  for (const auto& row : loss_constants())
    if (std::ranges::find(kFittedLosses, row.range.name) != std::end(kFittedLosses))
      out.push_back({row.range.name, everybody, own_name, loss_value, kLossStep, row.range});
  return out;
}

std::vector<TrialConstant> kernel_trials() {
  std::vector<TrialConstant> out;
  for (const auto& row : kernel_constants())
    out.push_back({row.range.name, everybody, own_name, kernel_value, 0, row.range});
  return out;
}

/// Puts the moved value into the cluster's calibration, where it replaces an earlier one.
ClusterSpec moved(ClusterSpec cluster, const TrialConstant& constant, double x) {
  const std::string name = constant.name(cluster, constant.family);
  if (name.empty()) return cluster;
  const double now = constant.value(cluster, constant.family);
  CalibratedConstant fitted;
  fitted.name = name;
  fitted.value = constant.step > 0 ? std::max(0.0, now + constant.step * x) : now * std::exp(x);
  Calibration calibration = cluster.calibration;
  std::erase_if(calibration.constants, [&](const CalibratedConstant& c) { return c.name == name; });
  calibration.constants.push_back(fitted);
  return calibrated(std::move(cluster), std::move(calibration));
}

}  // namespace foretrain

// Distances are coarse on purpose: they order rows for a reader, and nothing is calculated from them.
#include "sim/analysis/validation/nearest_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

constexpr double kOtherNetwork = 3, kOtherGpu = 2, kOtherStrategy = 1, kOtherPrecision = 1,
                 kOtherCluster = 0.5, kDoubling = 0.25;

double doublings(double a, double b) { return std::abs(std::log2(a / b)); }

/// Names of clusters and their GPUs, each opened once.
class GpuNames {
 public:
  const std::string& of(const std::string& cluster) {
    const auto [known, is_new] = names_.try_emplace(cluster);
    if (is_new) known->second = open_uncalibrated_cluster(cluster).node.gpu.name;
    return known->second;
  }

 private:
  std::map<std::string, std::string> names_;
};

bool is_same_run(const Measurement& a, const Measurement& b) {
  return a.model == b.model && a.cluster == b.cluster && a.strategy == b.strategy &&
         a.precision == b.precision && a.batch_per_gpu == b.batch_per_gpu && a.gpus == b.gpus &&
         a.metric == b.metric && a.source == b.source;
}

/// In their order, runs of the same together.
std::vector<NearRow> joined(const std::vector<NearRow>& rows, std::size_t most) {
  std::vector<NearRow> out;
  for (const NearRow& near : rows) {
    const auto same =
        std::ranges::find_if(out, [&](const NearRow& other) { return is_same_run(other.row, near.row); });
    if (same == out.end()) {
      if (out.size() < most) out.push_back(near);
      continue;
    }
    ++same->runs;
    same->low = std::min(same->low, near.low), same->high = std::max(same->high, near.high);
  }
  return out;
}

}  // namespace

std::vector<NearRow> nearest_rows(const Scenario& scenario, int gpus, const std::vector<Measurement>& rows,
                                  std::size_t most) {
  const std::string& gpu = scenario.cluster.node.gpu.name;
  const std::string_view precision = name_of(scenario.workload.precision);
  const double batch = static_cast<double>(scenario.workload.batch_per_gpu);
  GpuNames names;
  std::vector<NearRow> out;
  for (const Measurement& row : rows) {
    if (row.metric == Measurement::Metric::rate) continue;
    const bool is_other_network = row.model != scenario.model.name;
    const std::string& its_gpu = names.of(row.cluster);
    const bool is_other_gpu = its_gpu != gpu;
    if (is_other_network && is_other_gpu) continue;
    const double distance =
        (is_other_network ? kOtherNetwork : 0) + (is_other_gpu ? kOtherGpu : 0) +
        (row.strategy != scenario.strategy ? kOtherStrategy : 0) +
        (row.precision != precision ? kOtherPrecision : 0) +
        (row.cluster != scenario.cluster.name ? kOtherCluster : 0) +
        kDoubling * (doublings(static_cast<double>(row.batch_per_gpu), batch) + doublings(row.gpus, gpus));
    out.push_back({row, its_gpu, distance, 1, row.value, row.value});
  }
  std::ranges::stable_sort(out, {}, &NearRow::distance);
  return joined(out, most);
}

}  // namespace foretrain

// Distances are coarse on purpose: they order rows for a reader, and nothing is calculated from them.
#include "sim/analysis/validation/nearest_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Distances by difference; those by doublings count for each doubling.
constexpr double kOtherNetwork = 3, kOtherGpu = 1, kPeakDoubling = 1, kOtherExchange = 2,
                 kOtherStrategy = 0.5, kOtherPrecision = 1, kOtherCluster = 0.5, kDoubling = 0.25;

double doublings(double a, double b) { return std::abs(std::log2(a / b)); }

/// Peak rates of GPUs by name, each read once; 0 where the catalog has no such GPU.
class PeakRates {
 public:
  double of(const std::string& gpu) {
    const auto [known, is_new] = rates_.try_emplace(gpu, 0.0);
    if (is_new && open_named(CatalogKind::gpus, gpu))
      known->second = open_value(CatalogKind::gpus, gpu, read_gpu).fp32.per_second;
    return known->second;
  }

 private:
  std::map<std::string, double> rates_;
};

/// Returns the distance of two GPUs; an unknown rate counts as one doubling.
double gpu_distance(const std::string& gpu, const Gpu& asked, PeakRates& rates) {
  if (gpu == asked.name) return 0;
  const double rate = rates.of(gpu), own = asked.fp32.per_second;
  return kOtherGpu + (rate > 0 && own > 0 ? kPeakDoubling * doublings(rate, own) : kPeakDoubling);
}

/// Returns the distance of two strategies. They are of one kind if they start processes alike and have the
/// same requirements.
double strategy_distance(std::string_view strategy, std::string_view asked) {
  if (strategy == asked) return 0;
  const StrategyEntry *one = find_strategy(strategy), *other = find_strategy(asked);
  const bool is_alike = one != nullptr && other != nullptr && one->processes == other->processes &&
                        one->needs.empty() == other->needs.empty();
  return is_alike ? kOtherStrategy : kOtherExchange;
}

/// Returns the distance of a row. Strategies do not count on one GPU, where nothing is exchanged.
double distance_of(const Scenario& scenario, const Observation& row, PeakRates& rates) {
  const auto [fewest, most] = std::ranges::minmax(scenario.gpus);
  const int nearest = std::clamp(row.gpus, fewest, most);
  return (row.model != scenario.model.name ? kOtherNetwork : 0) +
         gpu_distance(row.gpu, scenario.cluster.node.gpu, rates) +
         (row.gpus > 1 ? strategy_distance(row.strategy, scenario.strategy) : 0) +
         (row.precision != name_of(scenario.workload.precision) ? kOtherPrecision : 0) +
         (row.cluster != scenario.cluster.name ? kOtherCluster : 0) +
         kDoubling * (doublings(row.size, static_cast<double>(scenario.workload.batch_per_gpu)) +
                      doublings(row.gpus, nearest));
}

/// The smallest jobs of series, to whose steps the ratios of larger jobs refer.
class FirstSteps {
 public:
  explicit FirstSteps(const EvidenceTable& table) {
    for (const StoredRow& row : table.rows())
      if (row.what == Observed::step) steps_.try_emplace(key(row), &row);
  }
  const StoredRow* of(const StoredRow& row) const {
    const auto found = steps_.find(key(row));
    return found == steps_.end() ? nullptr : found->second;
  }

 private:
  using Key = std::pair<TextId, TextId>;
  static Key key(const StoredRow& row) { return {row.text(RowText::source), row.text(RowText::run)}; }
  std::map<Key, const StoredRow*> steps_;
};

/// Returns a row with its step and its efficiency, as far as they are known.
NearRow near_row(const EvidenceTable& table, const StoredRow& row, const StoredRow* first) {
  NearRow near{.row = table.observation(row)};
  if (row.what != Observed::ratio) near.low = near.high = row.measured;
  if (row.what != Observed::ratio || row.measured <= 0) return near;
  near.efficiency = (first != nullptr ? row.size / first->size : 1) / row.measured;
  if (first != nullptr) near.low = near.high = row.measured * first->measured;
  return near;
}

bool is_same(const NearRow& a, const NearRow& b) {
  const Observation &one = a.row, &other = b.row;
  return one.source == other.source && one.model == other.model && one.cluster == other.cluster &&
         one.strategy == other.strategy && one.precision == other.precision && one.size == other.size &&
         one.gpus == other.gpus && one.nodes == other.nodes && one.what == other.what;
}

/// Joins repeats of the same run, in order, until `most` different ones are found.
std::vector<NearRow> joined(const std::vector<NearRow>& rows, std::size_t most) {
  std::vector<NearRow> out;
  for (const NearRow& near : rows) {
    const auto same = std::ranges::find_if(out, [&](const NearRow& other) { return is_same(other, near); });
    if (same == out.end()) {
      if (out.size() < most) out.push_back(near);
      continue;
    }
    // The efficiency of repeats is their mean, because a curve has one point there.
    same->efficiency += (near.efficiency - same->efficiency) / ++same->repeats;
    same->low = std::min(same->low, near.low), same->high = std::max(same->high, near.high);
  }
  return out;
}

}  // namespace

std::vector<NearRow> nearest_rows(const Scenario& scenario, const EvidenceTable& measured, std::size_t most) {
  const FirstSteps first(measured);
  const TextId model = measured.find(scenario.model.name),
               gpu = measured.find(scenario.cluster.node.gpu.name);
  PeakRates rates;
  std::vector<NearRow> out;
  for (const StoredRow& row : measured.rows()) {
    if (row.what == Observed::collective) continue;
    if (row.text(RowText::model) != model && row.text(RowText::gpu) != gpu) continue;
    NearRow near = near_row(measured, row, first.of(row));
    near.distance = distance_of(scenario, near.row, rates);
    if (near.distance <= kFarthestRow) out.push_back(std::move(near));
  }
  std::ranges::stable_sort(out, {}, &NearRow::distance);
  return joined(out, most);
}

}  // namespace foretrain

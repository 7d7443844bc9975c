// Causes are found by counterfactual simulation. Removing one cause shows what it costs by itself; removing
// one after another shows how the step divides among them, with parts that sum to the step. Savings of single
// removals do not sum: two causes that take place concurrently hide each other, and removing one of them
// saves nothing. Such pairs are searched when the single savings explain too little.
//
// The cost is at most 2 x kRemovableCount simulations of a step, plus six where a hidden pair is searched.
#include "sim/analysis/causes/step_causes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// A pair is searched when all causes together save this many times what the largest alone saves. The pair
/// hides each other when it saves this many times what both save apart.
constexpr double kHidden = 2;
/// Number of the largest causes among which pairs are tried.
constexpr std::size_t kPaired = 4;

/// Finds the causes of one step.
class CauseFinder {
 public:
  CauseFinder(PointPredictor& points, int gpus) : points_(points), step_(points.step(gpus)) {
    out_.gpus = gpus;
    out_.step_s = step_.step_s;
  }

  StepCauses find() {
    for (const Removable what : kRemovable)
      if (may_matter(what)) out_.alone.push_back(removed({what}));
    std::ranges::stable_sort(out_.alone, std::greater{}, &StepCause::saves_s);
    remove_in_turn();
    find_hidden_pair();
    return std::move(out_);
  }

 private:
  const StepSimulator& simulator() const { return points_.simulator(); }

  /// Returns false for causes that certainly take no time, which need no simulation.
  bool may_matter(Removable what) const {
    const DeviceModel& device = points_.device();
    const bool is_alone = out_.gpus == 1;
    // Parameters in host memory come over PCIe, even on a single GPU.
    if (what == Removable::links && step_.memory.host.is_used()) return true;
    if (what == Removable::links || what == Removable::sharing) return !is_alone;
    if (what == Removable::stragglers) return !is_alone && device.rank_spread > 0;
    if (what == Removable::busy_node) return !is_alone && (device.busy_node > 0 || device.busy_host > 0);
    return true;
  }

  /// Returns the step without these causes, at most the step itself: a removal that lengthens it counts as no
  /// saving.
  double step_without(const std::vector<Removable>& what) const {
    DeviceModel device = points_.device();
    for (const Removable each : what) device = without(device, each);
    return std::min(step_.step_s, simulator().step_s(out_.gpus, device));
  }

  /// Returns one entry with its words; two causes are joined by "and".
  StepCause removed(const std::vector<Removable>& what) const {
    StepCause cause;
    cause.what = what;
    cause.step_s = step_without(what);
    cause.saves_s = step_.step_s - cause.step_s;
    for (const Removable each : what) {
      const bool is_first = cause.name.empty();
      cause.name += (is_first ? "" : " and ") + words_for(each, simulator(), step_);
      cause.without += (is_first ? "" : " and ") + words_without(each, simulator(), step_);
    }
    return cause;
  }

  /// Removes the causes in the order of their single savings.
  void remove_in_turn() {
    for (const StepCause& cause : out_.alone) out_.in_turn.push_back({cause.what.front(), 0});
    const std::vector<double> parts = parts_in_order(points_, out_.gpus, out_.in_turn);
    for (std::size_t i = 0; i < out_.in_turn.size(); ++i) out_.in_turn[i].seconds = parts[i];
    out_.kernels_s = parts.back();
  }

  /// Puts the pair with the largest joint saving in front, if it exceeds every single saving.
  void find_hidden_pair() {
    if (out_.alone.size() < 2) return;
    const double all = out_.step_s - out_.kernels_s, most = out_.alone.front().saves_s;
    if (all < kLeastSaving * out_.step_s || all < kHidden * most) return;
    std::vector<CausePart> largest = out_.in_turn;
    std::ranges::stable_sort(largest, std::greater{}, &CausePart::seconds);
    largest.resize(std::min(largest.size(), kPaired));
    StepCause best;
    for (std::size_t i = 0; i < largest.size(); ++i)
      for (std::size_t j = i + 1; j < largest.size(); ++j) {
        StepCause pair = removed({largest[i].what, largest[j].what});
        const double apart = out_.saving_of(largest[i].what) + out_.saving_of(largest[j].what);
        if (pair.saves_s > kHidden * apart && pair.saves_s > best.saves_s) best = std::move(pair);
      }
    if (best.saves_s <= most) return;
    best.name += ", which hide each other";
    best.without = "without both";
    out_.alone.insert(out_.alone.begin(), std::move(best));
  }

  PointPredictor& points_;
  const SimulatedStep& step_;
  StepCauses out_;
};

}  // namespace

const StepCause* StepCauses::largest() const {
  return !alone.empty() && alone.front().saves_s >= kLeastSaving * step_s ? &alone.front() : nullptr;
}

double StepCauses::saving_of(Removable what) const {
  const std::vector<Removable> only{what};
  const auto found = std::ranges::find(alone, only, &StepCause::what);
  return found == alone.end() ? 0 : found->saves_s;
}

StepCauses causes_of(PointPredictor& points, int gpus) { return CauseFinder(points, gpus).find(); }

std::vector<double> parts_in_order(PointPredictor& points, int gpus, const std::vector<CausePart>& order) {
  DeviceModel device = points.device();
  double before = points.step(gpus).step_s;
  std::vector<double> parts;
  for (const CausePart& part : order) {
    device = without(device, part.what);
    const double after = std::min(before, points.simulator().step_s(gpus, device));
    parts.push_back(before - after);
    before = after;
  }
  parts.push_back(before);
  return parts;
}

}  // namespace foretrain

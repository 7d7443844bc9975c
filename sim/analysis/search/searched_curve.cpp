// Bounds are kept for steps, not for throughputs, because throughputs of a shared global batch jump wherever
// the rounded share does. Numbers with equally full last nodes use their links alike. Along such a class the
// step is assumed to be monotonic between known numbers, except for small turns that the margin covers.
//
// Evaluating a number updates the bounds up to its known neighbours in the class. Only a turn larger than all
// before updates every bound, so the total work is small beside the simulations.
#include <algorithm>
#include <cmath>
#include <set>

#include "sim/analysis/search/crossover.hpp"

namespace foretrain {

namespace {

/// Margin by which a step may lie outside its two known neighbours: a share of the step, a multiple of the
/// worst turn seen so far, and a share of the neighbours' difference.
constexpr double kStepMargin = 0.002, kOfWorst = 2, kMarginOfDifference = 0.1;
/// The multiple of the worst turn counts in full between neighbours at least a third apart, less between
/// nearer ones.
constexpr double kFar = 3;
/// Beyond this number only listed numbers count, because requests for more GPUs are round numbers.
constexpr int kEveryNumberUpTo = 4096;

/// Numbers up to this one are checked one by one, because one process that drives all GPUs may need more
/// memory on more of them.
constexpr int kMostInOneProcess = 16;

/// Erases numbers that do not fit. Sharded state needs less on more GPUs and replicated state as much, so
/// beyond kMostInOneProcess the first number that fits is found by halving.
void leave_out_what_does_not_fit(std::vector<int>& numbers, const std::function<bool(int)>& fits) {
  std::erase_if(numbers, [&](int gpus) { return gpus > 1 && gpus <= kMostInOneProcess && !fits(gpus); });
  const auto many = std::ranges::upper_bound(numbers, kMostInOneProcess);
  numbers.erase(many, std::partition_point(many, numbers.end(), [&](int gpus) { return !fits(gpus); }));
}

}  // namespace

std::vector<int> requested_numbers(const SearchSpace& space) {
  const int most = space.most_gpus, per_node = space.gpus_per_node;
  std::set<int> numbers;
  const auto add = [&](int gpus) {
    if (gpus <= most) numbers.insert(gpus);
  };
  for (int n = 1; n <= (space.every_gpu ? kEveryNumberUpTo : per_node); ++n) add(n);
  for (int n = per_node; n <= kEveryNumberUpTo; n += per_node) add(n);
  for (const int gpus : space.listed) add(gpus);
  if (space.usable) std::erase_if(numbers, [&](int gpus) { return gpus > 1 && !space.usable(gpus); });
  std::vector<int> out(numbers.begin(), numbers.end());
  if (space.fits) leave_out_what_does_not_fit(out, space.fits);
  return out;
}

SearchedCurve::SearchedCurve(const ThroughputFunction& throughput, const SearchSpace& space)
    : throughput_(throughput),
      per_node_(std::min(space.gpus_per_node, space.most_gpus)),
      numbers_(requested_numbers(space)),
      known_(numbers_.size()),
      rates_(numbers_.size(), 0),
      shortest_(numbers_.size(), 0),
      longest_(numbers_.size(), std::numeric_limits<double>::infinity()),
      classes_(static_cast<std::size_t>(per_node_)) {
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    samples_.push_back(space.samples_per_step(numbers_[i]));
    auto& places = classes_[static_cast<std::size_t>((numbers_[i] - 1) % per_node_)];
    place_in_class_.push_back(places.size());
    places.push_back(i);
  }
}

const std::vector<std::size_t>& SearchedCurve::class_of(std::size_t i) const {
  return classes_[static_cast<std::size_t>((numbers_[i] - 1) % per_node_)];
}

/// The first number is 1, so there always is a place at or below `gpus`.
std::size_t SearchedCurve::place_of(int gpus) const {
  return static_cast<std::size_t>(std::upper_bound(numbers_.begin(), numbers_.end(), gpus) -
                                  numbers_.begin()) -
         1;
}

SearchedCurve::Neighbours SearchedCurve::around(const std::vector<std::size_t>& places,
                                                std::size_t in_class) const {
  Neighbours out{kNowhere, kNowhere};
  for (std::size_t k = in_class; k-- > 0 && out.before == kNowhere;)
    if (known_[places[k]]) out.before = k;
  for (std::size_t k = in_class + 1; k < places.size() && out.after == kNowhere; ++k)
    if (known_[places[k]]) out.after = k;
  return out;
}

/// The margin shrinks with the relative distance of the neighbours; equal bounds would otherwise stay loose
/// forever.
void SearchedCurve::bound_between(const std::vector<std::size_t>& places, std::size_t before,
                                  std::size_t after) {
  if (before == kNowhere || after == kNowhere) return;
  const double a = shortest_[places[before]], b = shortest_[places[after]];
  const double spread = kMarginOfDifference * std::abs(a - b);
  const double nearness =
      static_cast<double>(numbers_[places[after]] - numbers_[places[before]]) / numbers_[places[after]];
  const double margin = kStepMargin + kOfWorst * surprise_ * std::min(1.0, kFar * nearness);
  for (std::size_t k = before + 1; k < after; ++k) {
    shortest_[places[k]] = std::max(0.0, std::min(a, b) * (1 - margin) - spread);
    longest_[places[k]] = std::max(a, b) * (1 + margin) + spread;
  }
}

/// Returns true if the curve turns here more than anywhere so far; the whole curve is then trusted less.
bool SearchedCurve::is_surprise(const std::vector<std::size_t>& places, const Neighbours& sides,
                                double step) {
  if (sides.before == kNowhere || sides.after == kNowhere) return false;
  const double a = shortest_[places[sides.before]], b = shortest_[places[sides.after]];
  // Relative distance of the step outside the range of its neighbours; negative inside.
  const double outside = std::max(std::min(a, b) / step, step / std::max(a, b)) - 1;
  if (outside <= surprise_) return false;
  surprise_ = outside;
  return true;
}

/// Recomputes the bounds of all classes after the margin has grown.
void SearchedCurve::bound_anew() {
  for (const std::vector<std::size_t>& places : classes_) {
    std::size_t before = kNowhere;
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (!known_[places[k]]) continue;
      bound_between(places, before, k);
      before = k;
    }
  }
}

/// Simulates one number and tightens the bounds between it and its known neighbours.
void SearchedCurve::evaluate(std::size_t i) {
  if (known_[i]) return;
  rates_[i] = throughput_(numbers_[i]).samples_per_s;
  ++simulated_;
  // A job of many nodes costs more than one evaluation.
  spent_ += 1 + static_cast<double>(numbers_[i] / per_node_) / kNodesPerEvaluation;
  known_[i] = true;
  shortest_[i] = longest_[i] = samples_[i] / rates_[i];
  const std::vector<std::size_t>& places = class_of(i);
  const Neighbours sides = around(places, place_in_class_[i]);
  if (is_surprise(places, sides, shortest_[i])) return bound_anew();
  bound_between(places, sides.before, place_in_class_[i]);
  bound_between(places, place_in_class_[i], sides.after);
}

/// The number itself is simulated at the ends of a class, where there is no bound; otherwise the middle
/// halves the gap.
void SearchedCurve::narrow(std::size_t i) {
  const std::vector<std::size_t>& places = class_of(i);
  const Neighbours sides = around(places, place_in_class_[i]);
  if (sides.before == kNowhere || sides.after == kNowhere) return evaluate(i);
  evaluate(places[sides.before + (sides.after - sides.before) / 2]);
}

}  // namespace foretrain

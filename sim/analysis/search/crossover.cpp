// The search for the crossover. An answer is the first, last or largest number of GPUs for which something
// holds. A number that was not simulated matters only if its bounds leave such a question open. The search
// simulates there until no open number is left, and reads the answers from what it has simulated.
//
// The first samples grow with the logarithm of the cluster's nodes. Each further simulation halves a gap
// around an open number, so most of them lie near thresholds and turns of the curve. The bounds are those of
// SearchedCurve. If the budget ends first, thresholds are bisected and `is_certain` is false.
#include "sim/analysis/search/crossover.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain {

namespace {

using Place = std::size_t;
using Found = std::optional<Place>;

/// Efficiencies that the answers are about, in descending order.
constexpr std::array kEfficiencies{0.9, 0.8, 0.7, 0.5};
/// Numbers up to this one, and up to two whole nodes and a GPU, are simulated one by one.
constexpr int kDense = 12;
/// Share of all numbers after which the rest of a rough curve is simulated, too.
constexpr double kMost = 0.8;
/// Growth from one sampled number of nodes to the next; with wider spacing, turns of the curve would be
/// missed.
constexpr double kSpacing = 1.5;

/// The search on one curve: sample, settle every question, read the answers.
class Search {
 public:
  explicit Search(const ThroughputFunction& throughput, const SearchSpace& space)
      : space_(space), curve_(throughput, space) {}

  Crossover answers() {
    sample();
    Crossover found;
    found.is_certain = settle() && finish_rough();
    if (!found.is_certain) sharpen();
    read(found);
    found.searched = curve_.numbers().back();
    found.numbers = static_cast<int>(curve_.size());
    found.simulated = curve_.simulated();
    return found;
  }

 private:
  bool has_budget() const { return curve_.spent() < space_.budget; }

  /// Samples the curve: the first numbers one by one, then whole nodes, and last the partly used ones where
  /// they count, with growing distance. One node more than 2, 4, 8, … is sampled, because a tree over it has
  /// one level more.
  void sample() {
    const int most = space_.most_gpus, per_node = space_.gpus_per_node;
    curve_.evaluate(0);
    curve_.evaluate(curve_.size() - 1);
    const int dense = std::min({most, std::max(kDense, 2 * per_node + 1), std::max(2, space_.budget / 2)});
    for (int n = 2; n <= dense; ++n) curve_.evaluate(curve_.place_of(n));
    for (const int n : {per_node, per_node + 1})
      if (n <= most) curve_.evaluate(curve_.place_of(n));
    sample_class(per_node, std::max(4, space_.budget - dense));
    for (int on_last = 1; on_last < per_node && space_.every_gpu; ++on_last)
      sample_class(on_last, space_.budget);
    for (std::int64_t node = 2; node * per_node < most && has_budget(); node *= 2)
      sample_at(static_cast<double>(node + 1), space_.every_gpu ? 1 : per_node);
  }

  /// Samples numbers with this many GPUs on the last node, about `spare` of them at most.
  void sample_class(int on_last_node, int spare) {
    const int per_node = space_.gpus_per_node, nodes = (space_.most_gpus - on_last_node) / per_node + 1;
    if (space_.most_gpus < on_last_node) return;
    const double ratio = std::max(kSpacing, std::pow(static_cast<double>(nodes), 1.0 / spare));
    for (double node = 1; node < nodes && has_budget(); node = std::max(node + 1, node * ratio))
      sample_at(node, on_last_node);
    if (has_budget()) sample_at(nodes, on_last_node);
  }

  /// Evaluates the largest requested number that is at most this one.
  void sample_at(double node, int on_last_node) {
    const std::int64_t gpus =
        std::int64_t{space_.gpus_per_node} * (static_cast<std::int64_t>(node) - 1) + on_last_node;
    curve_.evaluate(curve_.place_of(static_cast<int>(std::min<std::int64_t>(gpus, space_.most_gpus))));
  }

  /// Simulates until no unknown number could change an answer; returns false if the budget ends first. One
  /// question's simulations can open another, so all are asked again until none simulates.
  bool settle() {
    for (int before = -1; before != curve_.simulated();) {
      before = curve_.simulated();
      for (std::size_t question = 0; question < kQuestions; ++question) {
        for (Found open = open_in(question); open; open = open_in(question)) {
          if (!has_budget()) return false;
          curve_.narrow(*open);
        }
      }
    }
    return true;
  }

  /// Simulates the rest of a curve of which most was needed, or which is known to jump. Returns false if a
  /// curve that jumps has numbers left.
  bool finish_rough() {
    const auto all = static_cast<double>(curve_.size());
    if (!space_.jumps && (curve_.simulated() < kMost * all || all > space_.budget)) return true;
    for (Place i = 0; i < curve_.size() && has_budget(); ++i) curve_.evaluate(i);
    return !space_.jumps || curve_.simulated() >= all;
  }

  static constexpr std::size_t kQuestions = 2 * kEfficiencies.size() + 4;

  /// Returns an unknown number whose bounds leave the question open, nothing when the question is settled.
  Found open_in(std::size_t question) const {
    constexpr std::size_t n = kEfficiencies.size();
    if (question < n) return open_below(limit(kEfficiencies[question]));
    if (question < 2 * n) return open_reaching(limit(kEfficiencies[question - n]));
    if (question == 2 * n) return open_slower_than_one();
    if (question == 2 * n + 1) return open_maximum();
    if (question == 2 * n + 2) return open_fastest();
    return open_slower_than_fewer();
  }

  /// A threshold of throughput as a function of the place.
  using Limit = std::function<double(Place)>;
  Limit limit(double efficiency) const {
    return [this, efficiency](Place i) { return efficiency * gpus(i) * curve_.least(0); };
  }

  /// Returns the first place where the property is possible; nothing if it is known to hold there.
  template <class Possible>
  Found first_open(Possible possible) const {
    for (Place i = 1; i < curve_.size(); ++i) {
      if (possible(i)) return curve_.known(i) ? Found() : Found(i);
    }
    return {};
  }

  /// The first number below an efficiency.
  Found open_below(const Limit& limit) const {
    return first_open([&](Place i) { return curve_.least(i) < limit(i); });
  }

  /// The last number that reaches an efficiency.
  Found open_reaching(const Limit& limit) const {
    for (Place i = curve_.size(); i-- > 0;) {
      if (curve_.most(i) >= limit(i)) return curve_.known(i) ? Found() : Found(i);
    }
    return {};
  }

  /// The unknown number with the highest upper bound, if it exceeds all known throughputs.
  Found open_maximum() const {
    Place best = 0;
    for (Place i = 1; i < curve_.size(); ++i) {
      if (curve_.most(i) > curve_.most(best)) best = i;
    }
    return curve_.known(best) ? Found() : Found(best);
  }

  /// The smallest number that comes within kNoticeable of the largest throughput.
  Found open_fastest() const {
    // A single GPU is known, so no smaller number can be open.
    if (is_fastest(0, largest())) return {};
    return first_open([this, most = largest()](Place i) { return is_fastest(i, most); });
  }

  /// A number for which the bounds leave open whether it is slower than one GPU.
  Found open_slower_than_one() const {
    const double limit = kSlower * curve_.least(0);
    for (Place i = 1; i < curve_.size(); ++i) {
      if (curve_.least(i) < limit && curve_.most(i) >= limit) return i;
    }
    return {};
  }

  /// A number for which the bounds leave open whether it is slower than a smaller one; if it is known itself,
  /// the smaller number whose bound decides.
  Found open_slower_than_fewer() const {
    double surely = curve_.least(0), perhaps = surely;
    Place fastest = 0;
    for (Place i = 1; i < curve_.size(); ++i) {
      // `surely` is a lower bound of the best throughput so far, `perhaps` an upper bound of it.
      const bool surely_not = curve_.least(i) >= kSlower * perhaps;
      if (!surely_not && curve_.most(i) >= kSlower * surely) return curve_.known(i) ? fastest : i;
      surely = std::max(surely, curve_.least(i));
      if (curve_.most(i) > perhaps) perhaps = curve_.most(i), fastest = i;
    }
    return {};
  }

  /// Returns true if the number may come within kNoticeable of `largest`.
  bool is_fastest(Place i, double largest) const { return curve_.most(i) * kNoticeable >= largest; }

  /// Returns the largest known throughput.
  double largest() const {
    double most = 0;
    for (Place i = 0; i < curve_.size(); ++i) {
      if (curve_.known(i)) most = std::max(most, curve_.least(i));
    }
    return most;
  }

  int gpus(Place i) const { return curve_.numbers()[i]; }

  // Answers without certainty: each threshold is assumed to be crossed once between the simulated numbers
  // around it.

  /// Bisects each threshold between the simulated numbers around it.
  void sharpen() {
    for (const double efficiency : kEfficiencies) {
      const Limit least = limit(efficiency);
      const auto is_below = [&](Place i) { return curve_.least(i) < least(i); };
      if (const Found first = first_known(is_below)) bisect(*known_before(*first), *first, is_below);
      if (const Found last = last_known([&](Place i) { return !is_below(i); }))
        if (const Found after = known_after(*last)) bisect(*last, *after, is_below);
    }
    const auto is_slower = [this](Place i) { return curve_.least(i) < kSlower * curve_.least(0); };
    if (const Found first = first_known(is_slower)) bisect(*known_before(*first), *first, is_slower);
  }

  template <class Holds>
  /// Bisects between a place where the property fails and one where it holds; exceeds the budget by the
  /// logarithm of their distance.
  void bisect(Place no, Place yes, Holds holds) {
    while (yes - no > 1) {
      const Place middle = no + (yes - no) / 2;
      curve_.evaluate(middle);
      (holds(middle) ? yes : no) = middle;
    }
  }

  /// Returns the first known place with the property.
  template <class Holds>
  Found first_known(Holds holds) const {
    for (Place i = 0; i < curve_.size(); ++i) {
      if (curve_.known(i) && holds(i)) return i;
    }
    return {};
  }

  /// Returns the last known place with the property.
  template <class Holds>
  Found last_known(Holds holds) const {
    for (Place i = curve_.size(); i-- > 0;) {
      if (curve_.known(i) && holds(i)) return i;
    }
    return {};
  }

  Found known_before(Place place) const {
    return last_known([place](Place i) { return i < place; });
  }
  Found known_after(Place place) const {
    return first_known([place](Place i) { return i > place; });
  }

  std::optional<int> gpus_at(Found place) const { return place ? std::optional(gpus(*place)) : std::nullopt; }

  /// Reads the answers off the known places.
  void read(Crossover& found) const {
    for (const double efficiency : kEfficiencies) found.worth_requesting.push_back(worth(efficiency));
    for (const auto& [answer, efficiency] :
         {std::pair(&found.efficiency_below_90, 0.9), std::pair(&found.efficiency_below_80, 0.8),
          std::pair(&found.efficiency_below_70, 0.7), std::pair(&found.efficiency_below_50, 0.5)})
      *answer = first_below(efficiency);
    found.slower_than_one_gpu =
        ranges(found.is_certain, [this](Place i) { return rate(i) < kSlower * rate(0); });
    found.slower_than_fewer = ranges(found.is_certain, [this, most = rate(0)](Place i) mutable {
      most = std::max(most, rate(i));
      return rate(i) < kSlower * most;
    });
    const Place fastest = *first_known([this, most = largest()](Place i) { return is_fastest(i, most); });
    found.fastest_gpus = gpus(fastest);
    if (fastest + 1 < curve_.size()) found.no_gain_from = gpus(fastest + 1);
  }

  /// Returns the throughput, or the middle of its bounds where it is unknown; no answer depends on that
  /// choice.
  double rate(Place i) const { return (curve_.least(i) + curve_.most(i)) / 2; }

  /// Returns the ranges of neighbouring numbers with the property, asked in ascending order. Without
  /// certainty, unknown numbers are left out.
  template <class Holds>
  std::vector<GpuRange> ranges(bool is_certain, Holds holds) const {
    std::vector<GpuRange> out;
    bool before = false;
    for (Place i = 0; i < curve_.size(); ++i) {
      if (!is_certain && !curve_.known(i)) continue;
      const bool now = holds(i);
      if (now && before) out.back().last = gpus(i);
      if (now && !before) out.push_back({gpus(i), gpus(i)});
      before = now;
    }
    return out;
  }

  std::optional<int> first_below(double efficiency) const {
    return gpus_at(
        first_known([this, least = limit(efficiency)](Place i) { return curve_.least(i) < least(i); }));
  }

  /// Returns the numbers that reach an efficiency: those up to the first that misses it, and the last.
  WorthRequesting worth(double efficiency) const {
    const Found most =
        last_known([this, least = limit(efficiency)](Place i) { return curve_.least(i) >= least(i); });
    const Found below =
        first_known([this, least = limit(efficiency)](Place i) { return curve_.least(i) < least(i); });
    return {efficiency, below ? gpus(*below - 1) : curve_.numbers().back(), gpus(*most)};
  }

  const SearchSpace& space_;
  SearchedCurve curve_;
};

}  // namespace

Crossover find_crossover(const ThroughputFunction& throughput, const SearchSpace& space) {
  return Search(throughput, space).answers();
}

}  // namespace foretrain

// Each answer is the first or last number of GPUs for which something holds. A number that was not simulated may only matter if its bounds
// leave the question open; the search simulates there until no such number is left, and reads the answers off what it has simulated.
#include "sim/analysis/crossover.hpp"

#include <algorithm>
#include <cmath>

#include "sim/analysis/searched_curve.hpp"

namespace foretrain {

namespace {

using Place = std::size_t;
using Found = std::optional<Place>;

constexpr std::array kEfficiencies{0.9, 0.8, 0.7, 0.5};
/// Looked at one by one, and two whole nodes and a GPU.
constexpr int kDense = 12;
constexpr double kMost = 0.8;
/// Growth from one sampled number of nodes to the next; wider and turns of the curve are missed.
constexpr double kSpacing = 1.5;

class Search {
 public:
  explicit Search(const ThroughputFunction& throughput, const SearchSpace& space) : space_(space), curve_(throughput, space) {}

  Crossover answers() {
    sample();
    Crossover found;
    found.is_certain = settle() && finish_rough();
    if (!found.is_certain) sharpen();
    read(found);
    found.searched = space_.most_gpus;
    found.simulated = curve_.simulated();
    return found;
  }

 private:
  bool has_budget(double share = 1) const { return curve_.simulated() < share * space_.budget; }

  /// The first few GPU by GPU, then whole nodes and last the partly used ones, further and further apart.
  void sample() {
    const int most = space_.most_gpus, per_node = space_.gpus_per_node;
    curve_.evaluate(0);
    curve_.evaluate(curve_.size() - 1);
    const int dense = std::min({most, std::max(kDense, 2 * per_node + 1), std::max(2, space_.budget / 2)});
    for (int n = 2; n <= dense; ++n) curve_.evaluate(curve_.place_of(n));
    for (const int n : {per_node, per_node + 1})
      if (n <= most) curve_.evaluate(curve_.place_of(n));
    sample_class(per_node, std::max(4, space_.budget - dense));
    for (int on_last = 1; on_last < per_node; ++on_last) sample_class(on_last, space_.budget);
    // A tree over so many nodes has one level more, and its last node a single GPU.
    for (std::int64_t node = 2; node * per_node < most && has_budget(); node *= 2) sample_at(static_cast<double>(node), 1);
  }

  /// Numbers with so many GPUs on the last node, at most about `spare` of them.
  void sample_class(int on_last_node, int spare) {
    const int per_node = space_.gpus_per_node, nodes = (space_.most_gpus - on_last_node) / per_node + 1;
    if (space_.most_gpus < on_last_node) return;
    const double ratio = std::max(kSpacing, std::pow(static_cast<double>(nodes), 1.0 / spare));
    for (double node = 1; node < nodes && has_budget(); node = std::max(node + 1, node * ratio)) sample_at(node, on_last_node);
    if (has_budget()) sample_at(nodes, on_last_node);
  }

  void sample_at(double node, int on_last_node) {
    const std::int64_t gpus = std::int64_t{space_.gpus_per_node} * (static_cast<std::int64_t>(node) - 1) + on_last_node;
    curve_.evaluate(curve_.place_of(static_cast<int>(gpus)));
  }

  /// Simulates until no number that was not could change an answer; false when the budget ends before.
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

  /// A curve of which most had to be looked at is a rough one, like one that is known to jump: all of it is looked at as far as the budget
  /// goes. False when some number of a curve that jumps is left.
  bool finish_rough() {
    const auto all = static_cast<double>(curve_.size());
    if (!space_.jumps && (curve_.simulated() < kMost * all || all > space_.budget)) return true;
    for (Place i = 0; i < curve_.size() && has_budget(); ++i) curve_.evaluate(i);
    return !space_.jumps || curve_.simulated() >= all;
  }

  static constexpr std::size_t kQuestions = 2 * kEfficiencies.size() + 4;

  /// A number whose bounds leave the question open.
  Found open_in(std::size_t question) const {
    constexpr std::size_t n = kEfficiencies.size();
    if (question < n) return open_below(limit(kEfficiencies[question]));
    if (question < 2 * n) return open_reaching(limit(kEfficiencies[question - n]));
    if (question == 2 * n) return open_below(rate_of_one());
    if (question == 2 * n + 1) return open_maximum();
    if (question == 2 * n + 2) return open_fastest();
    return open_drop();
  }

  using Limit = std::function<double(Place)>;
  Limit limit(double efficiency) const {
    return [this, efficiency](Place i) { return efficiency * gpus(i) * curve_.least(0); };
  }
  Limit rate_of_one() const {
    return [this](Place) { return curve_.least(0); };
  }

  /// Places where something is possible, before the first where it is known to be.
  template <class Possible>
  Found first_open(Possible possible) const {
    for (Place i = 1; i < curve_.size(); ++i) {
      if (possible(i)) return curve_.known(i) ? Found() : Found(i);
    }
    return {};
  }

  Found open_below(const Limit& limit) const {
    return first_open([&](Place i) { return curve_.least(i) < limit(i); });
  }

  Found open_reaching(const Limit& limit) const {
    for (Place i = curve_.size(); i-- > 0;) {
      if (curve_.most(i) >= limit(i)) return curve_.known(i) ? Found() : Found(i);
    }
    return {};
  }

  /// The unknown number that could be furthest above all known ones.
  Found open_maximum() const {
    Place best = 0;
    for (Place i = 1; i < curve_.size(); ++i) {
      if (curve_.most(i) > curve_.most(best)) best = i;
    }
    return curve_.known(best) ? Found() : Found(best);
  }

  Found open_fastest() const {
    if (is_fastest(0, largest())) return {};
    return first_open([this, most = largest()](Place i) { return is_fastest(i, most); });
  }

  Found open_drop() const {
    for (Place i = 1; i < curve_.size(); ++i) {
      if (gpus(i) != gpus(i - 1) + 1 || curve_.least(i) * kNoticeable >= curve_.most(i - 1)) continue;
      if (!curve_.known(i)) return i;
      return curve_.known(i - 1) ? Found() : Found(i - 1);
    }
    return {};
  }

  bool is_fastest(Place i, double largest) const { return curve_.most(i) * kNoticeable >= largest; }

  double largest() const {
    double most = 0;
    for (Place i = 0; i < curve_.size(); ++i) {
      if (curve_.known(i)) most = std::max(most, curve_.least(i));
    }
    return most;
  }

  int gpus(Place i) const { return curve_.numbers()[i]; }

  // Without certainty: as if each threshold were crossed once between the simulated numbers around it.

  void sharpen() {
    for (const double efficiency : kEfficiencies) {
      const Limit least = limit(efficiency);
      const auto is_below = [&](Place i) { return curve_.least(i) < least(i); };
      if (const Found first = first_known(is_below)) bisect(*known_before(*first), *first, is_below);
      if (const Found last = last_known([&](Place i) { return !is_below(i); }))
        if (const Found after = known_after(*last)) bisect(*last, *after, is_below);
    }
    const auto is_slower = [this](Place i) { return curve_.least(i) < curve_.least(0); };
    if (const Found first = first_known(is_slower)) bisect(*known_before(*first), *first, is_slower);
  }

  template <class Holds>
  void bisect(Place no, Place yes, Holds holds) {
    while (yes - no > 1) {
      const Place middle = no + (yes - no) / 2;
      curve_.evaluate(middle);
      (holds(middle) ? yes : no) = middle;
    }
  }

  template <class Holds>
  Found first_known(Holds holds) const {
    for (Place i = 0; i < curve_.size(); ++i) {
      if (curve_.known(i) && holds(i)) return i;
    }
    return {};
  }

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

  void read(Crossover& found) const {
    for (const double efficiency : kEfficiencies) found.worth_requesting.push_back(worth(efficiency));
    for (const auto& [answer, efficiency] : {std::pair(&found.efficiency_below_90, 0.9), std::pair(&found.efficiency_below_80, 0.8),
                                             std::pair(&found.efficiency_below_70, 0.7), std::pair(&found.efficiency_below_50, 0.5)})
      *answer = first_below(efficiency);
    found.slower_than_one_gpu_from = gpus_at(first_known([this](Place i) { return curve_.least(i) < curve_.least(0); }));
    found.slower_than_previous_from = gpus_at(first_known([this](Place i) {
      return i > 0 && curve_.known(i - 1) && gpus(i - 1) + 1 == gpus(i) && curve_.least(i) * kNoticeable < curve_.least(i - 1);
    }));
    found.fastest_gpus = gpus(*first_known([this, most = largest()](Place i) { return is_fastest(i, most); }));
    if (found.fastest_gpus < space_.most_gpus) found.no_gain_from = found.fastest_gpus + 1;
  }

  std::optional<int> first_below(double efficiency) const {
    return gpus_at(first_known([this, least = limit(efficiency)](Place i) { return curve_.least(i) < least(i); }));
  }

  WorthRequesting worth(double efficiency) const {
    const Found most = last_known([this, least = limit(efficiency)](Place i) { return curve_.least(i) >= least(i); });
    return {efficiency, first_below(efficiency).value_or(space_.most_gpus + 1) - 1, gpus(*most)};
  }

  const SearchSpace& space_;
  SearchedCurve curve_;
};

}  // namespace

Crossover find_crossover(const ThroughputFunction& throughput, const SearchSpace& space) { return Search(throughput, space).answers(); }

}  // namespace foretrain

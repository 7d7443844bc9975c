// Coordinate descent with pruning. Whatever its communication costs, a case takes at least as long as its GPU
// computes and its loader loads. That bound needs no simulation, and it is kept for all cases that differ in
// nothing it depends on. A case whose bound is worse than the best known value is never predicted.
//
// The search descends from the case with the best bound, then from unknown random cases; later starts walk
// towards the best case and descend where they find a nearly equal one. Invariant: best_ is the worth of
// tried[best], and every case with a smaller bound may still be better.
#include "sim/analysis/sweep/tune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "sim/base/named_rows.hpp"
#include "sim/base/random.hpp"

namespace foretrain {

namespace {

/// Worth of a case that does not run; worths are minimized.
constexpr double kNone = std::numeric_limits<double>::infinity();
/// Factor below which a worth counts as better; less is the rounding of sums.
constexpr double kBetter = 1 - 1e-9;
/// Longest axis of which all values are tried, and values tried first on a longer one, before those around
/// the best of them.
constexpr std::size_t kWholeLine = 16, kCoarseLine = 9;
/// Loss from which a value is not tried again elsewhere, and loss below which a case is near enough to the
/// best for a descent to begin there.
constexpr double kHopeless = 0.15, kNearlyAsGood = 0.03;
/// Cases among which the first start is chosen, and draws after which no start is left.
constexpr std::int64_t kFirstStarts = 2000, kDraws = 5000;
/// Limits up to which all cases are counted: cases, and different bounds (each bound reads a scenario).
/// Beyond, a share is estimated from a sample of kSampled cases.
constexpr std::int64_t kCounted = 200'000, kCountedLimits = 10'000, kSampled = 5000;

/// Returns true for options of a strategy that change no kernels and not how often they run, so that bounds
/// do not depend on them.
bool is_beside_limits(const std::string& key) {
  return key.starts_with("strategy.") && key != "strategy.name" && key != "strategy.accumulation";
}

/// A search with its state.
class Tuner {
 public:
  Tuner(CasePredictor& predictor, SweepCases& cases, const TuneQuestion& question,
        const std::function<void(std::int64_t)>& show)
      : predictor_(predictor),
        cases_(cases),
        question_(question),
        show_(show),
        figure_(*find_row(case_figures(), question.goal.name)),
        random_(static_cast<std::uint64_t>(question.seed)) {
    result_.goal = question.goal;
    for (const StudyAxis* column : cases.columns()) result_.columns.push_back(column->name);
    for (const Value& value : cases.columns().back()->values)
      gpus_.push_back(static_cast<int>(std::get<std::int64_t>(value.data)));
  }

  /// Descends from the best bound, then from an unknown case, then walks from random starts, and last tries
  /// every value around the best case.
  TuneResult run() {
    losses_.resize(cases_.columns().size());
    for (std::size_t c = 0; c < losses_.size(); ++c) losses_[c].resize(cases_.columns()[c]->values.size(), 0);
    if (const auto start = first_start()) descend(*start, true);
    if (const auto start = next_start()) descend(*start, false);
    while (result_.fruitless < question_.searches) {
      const auto start = next_start();
      if (!start) break;
      const double before = best_;
      walk(*start);
      result_.fruitless = best_ < before ? 0 : result_.fruitless + 1;
    }
    refine_around_best();
    finish();
    return std::move(result_);
  }

 private:
  /// Returns the worth of a result: smaller is better, kNone where it does not run.
  double worth(const CaseResult& result) const {
    const Value value = figure_.of(result);
    const auto* number = std::get_if<double>(&value.data);
    if (number == nullptr || !result.why_not.empty()) return kNone;
    return question_.goal.is_largest ? -*number : *number;
  }
  double figure_of(double worth) const { return question_.goal.is_largest ? -worth : worth; }

  bool is_known(std::int64_t number) const { return known_.count(number) > 0; }

  /// Returns the worth of a case, predicted at most once; kNone when the predictions are used up.
  double value(std::int64_t number) {
    if (const auto found = known_.find(number); found != known_.end()) return found->second;
    // A case beyond the limit counts as unknown; it is not remembered.
    if (static_cast<std::int64_t>(result_.tried.size()) >= question_.most_predictions) {
      result_.ran_out = true;
      return kNone;
    }
    TriedCase tried{number, cases_.values(number), {}};
    tried.result = predictor_.predict(cases_.settings(tried.values), {gpus_of(number)}).front();
    const double own = worth(tried.result);
    tried.is_right = own < kNone && tried.result.point.fits();
    tried.figure = tried.is_right ? figure_of(own) : 0;
    const double right = tried.is_right ? own : kNone;
    known_.emplace(number, right);
    if (right < best_) best_ = right, result_.best = result_.tried.size();
    result_.tried.push_back(std::move(tried));
    if (show_) show_(static_cast<std::int64_t>(result_.tried.size()));
    return right;
  }

  int gpus_of(std::int64_t number) const { return gpus_[cases_.place(cases_.columns().size() - 1, number)]; }

  /// The bound of a case: -kNone where nothing is known, kNone where it does not run.
  struct Limit {
    double worth = -kNone;
    std::string why_not;
  };
  /// Returns the bound; cases with equal bounds on all numbers of GPUs share one computation.
  const Limit& limit_of(std::int64_t number) {
    const std::int64_t alike = with_equal_limits(number);
    auto found = limits_.find(alike);
    if (found == limits_.end()) found = limits_.emplace(alike, limits_on_all_gpus(alike)).first;
    return found->second[cases_.place(cases_.columns().size() - 1, number)];
  }
  std::vector<Limit> limits_on_all_gpus(std::int64_t number) {
    std::vector<Limit> out;
    for (const CaseResult& c : predictor_.best_conceivable(cases_.settings(cases_.values(number)), gpus_)) {
      const double own = worth(c);
      out.push_back({c.why_not.empty() && own == kNone ? -kNone : own, c.why_not});
    }
    return out;
  }

  /// Returns the first of the cases with the same bounds: options beside bounds and the number of GPUs are
  /// set to their first value.
  std::int64_t with_equal_limits(std::int64_t number) const {
    const auto& columns = cases_.columns();
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (c + 1 == columns.size() || is_beside_limits(columns[c]->key)) number = cases_.with(number, c, 0);
    return number;
  }

  bool is_case(std::int64_t number) { return cases_.is_case(number, cases_.values(number)); }
  bool may_be_better(std::int64_t number) { return limit_of(number).worth < best_ * better(); }
  /// Returns the factor on best_ for a better worth; worths may be negative.
  double better() const { return best_ > 0 ? kBetter : 1 / kBetter; }

  /// Returns the worth, without a prediction kNone where nothing better can be.
  double promised(std::int64_t number) {
    if (!is_case(number)) return kNone;
    return is_known(number) || may_be_better(number) ? value(number) : kNone;
  }

  /// Optimizes every axis in turn until none has a better value. `all` includes, in the first round, values
  /// that lost much elsewhere.
  void descend(std::int64_t at, bool all) {
    double here = value(at);
    for (bool moves = true; moves && !result_.ran_out; all = false) {
      moves = false;
      for (std::size_t c = 0; c < losses_.size(); ++c) {
        const auto [there, worth_there] = best_on_line(at, here, c, all);
        if (there == at) continue;
        at = there, here = worth_there, moves = true;
      }
    }
  }

  /// Walks from a start to the best case, one axis after the other in a random order, and descends from the
  /// first nearly equal case on the way.
  void walk(std::int64_t at) {
    std::vector<std::size_t> order(losses_.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw(i)]);
    // Before anything runs, the walk has no goal and descends where it starts.
    const std::int64_t goal = best_ < kNone ? result_.tried[result_.best].number : at;
    double here = promised(at);
    for (const std::size_t c : order) {
      if (loss_of(here) < kNearlyAsGood && distance(at, goal) > 1) return descend(at, false);
      at = cases_.with(at, c, cases_.place(c, goal));
      here = promised(at);
    }
  }

  /// Returns the relative loss against the best known case: 0.1 is a tenth worse.
  double loss_of(double worth) const { return worth < kNone ? (worth - best_) / std::abs(best_) : kNone; }

  /// Returns the number of axes on which two cases differ.
  int distance(std::int64_t a, std::int64_t b) const {
    int out = 0;
    for (std::size_t c = 0; c < losses_.size(); ++c) out += cases_.place(c, a) != cases_.place(c, b) ? 1 : 0;
    return out;
  }

  /// Returns a random index below a limit.
  std::size_t draw(std::size_t below) {
    return static_cast<std::size_t>(random_.uniform(1, draws_++) * static_cast<double>(below));
  }

  /// Tries every value of every axis around the best case; a better case starts this anew.
  void refine_around_best() {
    while (!result_.ran_out && best_ < kNone) {
      const double before = best_;
      descend(result_.tried[result_.best].number, true);
      if (best_ == before) return;
    }
  }

  /// Returns the best case on one axis and its worth. Long axes are sampled, then refined around the best
  /// value by halving the stride. It also remembers the loss of each value.
  std::pair<std::int64_t, double> best_on_line(std::int64_t at, double here, std::size_t column, bool all) {
    const std::size_t size = cases_.columns()[column]->values.size();
    std::size_t stride = size <= kWholeLine ? 1 : (size + kCoarseLine - 2) / (kCoarseLine - 1);
    std::pair<std::int64_t, double> best{at, here};
    std::map<std::size_t, double> looked;
    const auto look = [&](std::size_t place) {
      // A value that lost much on one line is unlikely to win on another.
      if (!all && losses_[column][place] > kHopeless) return;
      const std::int64_t there = cases_.with(at, column, place);
      const double worth_there = promised(there);
      if (worth_there < best.second) best = {there, worth_there};
      if (worth_there < kNone) looked[place] = worth_there;
    };
    for (std::size_t place = 0; place < size; place += stride) look(place);
    while (stride > 1) {
      // The stride halves around the best value so far.
      stride = (stride + 1) / 2;
      const std::size_t middle = cases_.place(column, best.first);
      if (middle >= stride) look(middle - stride);
      if (middle + stride < size) look(middle + stride);
    }
    for (const auto& [place, worth] : looked)
      losses_[column][place] = (worth - best.second) / std::abs(best.second);
    return best;
  }

  /// Returns, of cases spread over the space, the one with the best bound.
  std::optional<std::int64_t> first_start() {
    std::optional<std::int64_t> best;
    double least = kNone;
    const std::int64_t every = std::max<std::int64_t>(1, cases_.numbers() / kFirstStarts);
    for (std::int64_t number = 0; number < cases_.numbers(); number += every) {
      if (!is_case(number)) continue;
      const double own = limit_of(number).worth;
      if (own < least || (!best && own < kNone)) best = number, least = own;
    }
    return best ? best : next_start();
  }

  /// Returns a random case about which nothing is known and that may be better.
  std::optional<std::int64_t> next_start() {
    for (std::int64_t draw = 0; draw < kDraws; ++draw) {
      const double place = random_.uniform(0, draws_++);
      const auto number = static_cast<std::int64_t>(place * static_cast<double>(cases_.numbers()));
      if (!is_known(number) && is_case(number) && may_be_better(number)) return number;
    }
    return std::nullopt;
  }

  /// Fills the summary once the search has ended.
  void finish() {
    if (best_ == kNone) result_.best = result_.tried.size(), result_.why_none = why_none();
    result_.cases = cases_.count({});
    add_share();
    if (result_.found()) add_axes();
  }

  /// Returns the reason of the first case of the space.
  std::string why_none() {
    const std::int64_t every = std::max<std::int64_t>(1, cases_.numbers() / kCounted);
    for (std::int64_t number = 0; number < cases_.numbers(); number += every)
      if (is_case(number)) return neighbour(number, {}).why_not;
    return "the conditions leave no case";
  }

  /// Returns an upper limit of the number of different bounds.
  std::int64_t different_limits() const {
    std::int64_t out = 1;
    for (const StudyAxis* column : cases_.columns())
      if (column->key != "run.gpus" && !is_beside_limits(column->key))
        out *= static_cast<std::int64_t>(column->values.size());
    return out;
  }

  /// Counts the known share of the space, exactly or from evenly spaced cases.
  void add_share() {
    const bool counts_all = cases_.numbers() <= kCounted && different_limits() <= kCountedLimits;
    const std::int64_t every = counts_all ? 1 : std::max<std::int64_t>(1, cases_.numbers() / kSampled);
    std::int64_t all = 0, known = 0;
    for (std::int64_t number = 0; number < cases_.numbers(); number += every) {
      if (!is_case(number)) continue;
      ++all;
      known += is_known(number) || !may_be_better(number) ? 1 : 0;
    }
    result_.share_known = all == 0 ? 1 : static_cast<double>(known) / static_cast<double>(all);
    result_.is_share_exact = every == 1;
  }

  /// Lists, for each axis with several values, the best case with every other value.
  void add_axes() {
    const TriedCase& best = result_.tried[result_.best];
    for (std::size_t c = 0; c < cases_.columns().size(); ++c) {
      const StudyAxis& column = *cases_.columns()[c];
      if (column.values.size() < 2 || std::holds_alternative<std::monostate>(best.values[c].data)) continue;
      TunedAxis axis{column.name, best.values[c], {}};
      for (std::size_t place = 0; place < column.values.size(); ++place) {
        const std::int64_t there = cases_.with(best.number, c, place);
        if (there != best.number && is_case(there))
          axis.others.push_back(neighbour(there, column.values[place]));
      }
      result_.axes.push_back(std::move(axis));
    }
  }

  /// Returns what is known of one case: predicted, impossible, bounded, or nothing.
  NeighbourCase neighbour(std::int64_t number, const Value& value) {
    NeighbourCase out{value, ComparisonCertainty::not_looked_at, 0, ""};
    if (is_known(number)) {
      const auto tried = std::ranges::find(result_.tried, number, &TriedCase::number);
      out.known = tried->is_right ? ComparisonCertainty::predicted : ComparisonCertainty::cannot_run;
      out.figure = tried->figure;
      out.why_not = tried->is_right || !tried->result.why_not.empty() ? tried->result.why_not
                                                                      : "does not fit into memory";
    } else if (const Limit& limit = limit_of(number); !limit.why_not.empty()) {
      out.known = ComparisonCertainty::cannot_run, out.why_not = limit.why_not;
    } else if (!may_be_better(number)) {
      out.known = ComparisonCertainty::cannot_be_better, out.figure = figure_of(limit.worth);
    }
    return out;
  }

  CasePredictor& predictor_;
  SweepCases& cases_;
  const TuneQuestion& question_;
  const std::function<void(std::int64_t)>& show_;
  const CaseFigure& figure_;
  CounterRandom random_;
  std::uint64_t draws_ = 0;
  std::vector<int> gpus_;
  /// Worths of predicted cases.
  std::map<std::int64_t, double> known_;
  /// Bounds of the first case with equal bounds, by index of the number of GPUs.
  std::map<std::int64_t, std::vector<Limit>> limits_;
  /// Relative losses by column and value.
  std::vector<std::vector<double>> losses_;
  double best_ = kNone;
  TuneResult result_;
};

}  // namespace

TuneResult tune(CasePredictor& predictor, SweepCases& cases, const TuneQuestion& question,
                const std::function<void(std::int64_t)>& show) {
  return Tuner(predictor, cases, question, show).run();
}

}  // namespace foretrain

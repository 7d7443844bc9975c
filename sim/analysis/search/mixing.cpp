// A choice is a job of its own: the same scenario with some nodes excluded, on the GPUs that remain.
#include "sim/analysis/search/mixing.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "sim/analysis/step/known_figures.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Nodes that the job might do without.
struct Exclusion {
  /// Name in tables: "v100 (2 nodes)".
  std::string what;
  /// The nodes in a sentence: "the 2 v100 nodes".
  std::string spoken;
  std::set<int> nodes;
};

/// Tries the choices of one job.
class Mixer {
 public:
  Mixer(const PointPredictor& points, const PredictionPoint& point)
      : points_(points),
        point_(point),
        scenario_(points.simulator().scenario()),
        placement_(points.simulator().placement(point.gpus)) {}

  Mixing mix() {
    Mixing mixing{point_.gpus, point_.unlike};
    mixing.choices.push_back(choice_of(point_, {"all", "", {}}));
    for (const Exclusion& nodes : sets_to_leave_out()) try_without(nodes, mixing.choices);
    for (std::size_t i = 1; i < mixing.choices.size(); ++i) {
      if (is_better(mixing.choices[i], mixing.choices[mixing.best])) mixing.best = i;
    }
    mixing.verdict = verdict_on(mixing);
    return mixing;
  }

 private:
  static MixingChoice choice_of(const PredictionPoint& p, const Exclusion& nodes) {
    return {nodes.what,     nodes.spoken, p.gpus,          p.nodes,
            p.global_batch, p.step_s,     p.samples_per_s, known_figures(p).total_s,
            p.fits()};
  }

  /// A choice that fits is better than one that does not; otherwise samples per second decide.
  static bool is_better(const MixingChoice& a, const MixingChoice& b) {
    if (a.fits != b.fits) return a.fits;
    return a.samples_per_s > b.samples_per_s;
  }

  /// Returns the kinds in the job in descending order of the time for one sample; equal machines are one
  /// kind.
  std::vector<int> kinds_by_speed() const {
    std::map<int, double> seconds_per_sample;
    for (const UnlikeShare& ranks : point_.unlike) {
      const int kind = find_kind(scenario_.cluster, ranks.kind).value_or(0);
      double& slowest = seconds_per_sample[kind];
      slowest = std::max(slowest, ranks.own_step_s / static_cast<double>(ranks.batch_per_gpu));
    }
    std::vector<int> kinds;
    for (const auto& [kind, seconds] : seconds_per_sample) kinds.push_back(kind);
    std::ranges::stable_sort(kinds, std::greater{}, [&](int kind) { return seconds_per_sample.at(kind); });
    return kinds;
  }

  /// Returns the nodes of the job that are of this kind.
  std::set<int> nodes_of(int kind) const {
    std::set<int> nodes;
    for (const GpuPlace& rank : placement_.ranks) {
      if (first_kind_like(scenario_.cluster, kind_of_node(scenario_.cluster, rank.node)) == kind)
        nodes.insert(rank.node);
    }
    return nodes;
  }

  /// Returns the sets of nodes to exclude: the slowest kinds one after the other, the kinds that lack memory,
  /// and nodes with a slow GPU. A set of nodes appears once.
  std::vector<Exclusion> sets_to_leave_out() const {
    std::vector<Exclusion> sets;
    const auto add = [&](Exclusion out) {
      const bool is_known = std::ranges::find(sets, out.nodes, &Exclusion::nodes) != sets.end();
      if (!out.nodes.empty() && !is_known) sets.push_back(std::move(out));
    };
    std::vector<int> kinds = kinds_by_speed();
    // The fastest kind is never excluded, because one kind must remain.
    for (std::size_t i = 1; i < kinds.size(); ++i) add(excluded_kinds(std::span(kinds).first(i)));
    std::erase_if(kinds, [&](int kind) { return !lacks_memory(kind); });
    add(excluded_kinds(kinds));
    add(nodes_with_slow_gpus());
    return sets;
  }

  /// Returns true if the training does not fit into the memory of this kind, even without scratch memory.
  bool lacks_memory(int kind) const {
    return std::ranges::any_of(point_.unlike, [&](const UnlikeShare& ranks) {
      return ranks.kind == name_of_kind(scenario_.cluster, kind) &&
             ranks.memory.least() > ranks.memory_capacity;
    });
  }

  Exclusion excluded_kinds(std::span<const int> kinds) const {
    Exclusion out;
    for (const int kind : kinds) {
      const std::set<int> more = nodes_of(kind);
      const std::string& name = name_of_kind(scenario_.cluster, kind);
      const std::string spoken = more.size() == 1 ? fmt::format("the {} node", name)
                                                  : fmt::format("the {} {} nodes", more.size(), name);
      out.nodes.insert(more.begin(), more.end());
      out.what += fmt::format("{}{} ({})", out.what.empty() ? "without " : ", ", name,
                              counted(std::ssize(more), "node"));
      out.spoken += (out.spoken.empty() ? "" : " and ") + spoken;
    }
    return out;
  }

  /// Returns all nodes that have at least one slow GPU.
  Exclusion nodes_with_slow_gpus() const {
    Exclusion out;
    for (const GpuPlace& rank : placement_.ranks) {
      if (has_slow_gpus(scenario_) && clock_of(scenario_, rank) < 1) out.nodes.insert(rank.node);
    }
    const auto count = static_cast<std::int64_t>(out.nodes.size());
    out.what = fmt::format("without slow GPUs ({})", counted(count, "node"));
    out.spoken = count == 1 ? "the node with a slow GPU" : fmt::format("the {} nodes with slow GPUs", count);
    return out;
  }

  int gpus_without(const std::set<int>& nodes) const {
    return static_cast<int>(std::ranges::count_if(
        placement_.ranks, [&](const GpuPlace& rank) { return !nodes.contains(rank.node); }));
  }

  /// Returns all nodes but those of the job that are kept, so that no other node replaces an excluded one.
  std::vector<int> all_but_the_job_without(const std::set<int>& nodes) const {
    std::set<int> kept;
    for (const GpuPlace& rank : placement_.ranks) {
      if (!nodes.contains(rank.node)) kept.insert(rank.node);
    }
    std::vector<int> others;
    for (int node = 0; node < scenario_.cluster.nodes; ++node) {
      if (!kept.contains(node)) others.push_back(node);
    }
    return others;
  }

  /// Predicts the job without these nodes and adds the choice, unless too few GPUs or samples are left.
  void try_without(const Exclusion& nodes, std::vector<MixingChoice>& choices) const {
    const int gpus = gpus_without(nodes.nodes);
    Scenario without = scenario_;
    // The job is defined by the nodes that it keeps, not by the numbers the user asked of each kind.
    without.launch.nodes_of.clear();
    without.launch.left_out = all_but_the_job_without(nodes.nodes);
    without.gpus = {gpus};
    if (gpus == 0 || gpus > scenario_.global_batch.value_or(gpus) || !why_not(without, gpus).empty()) return;
    PointPredictor points(without, points_);
    Decisions unsaid;
    choices.push_back(choice_of(points.point(gpus, unsaid), nodes));
  }

  /// Returns the verdict: memory first, then the difference in speed.
  static std::string verdict_on(const Mixing& mixing) {
    const MixingChoice &all = mixing.choices.front(), &best = mixing.choices[mixing.best];
    if (mixing.choices.size() == 1) return "there is no choice that leaves the slow ranks out";
    if (!all.fits)
      return best.fits
                 ? fmt::format("with {} it does not fit into memory, without them it does", best.left_out)
                 : "neither all nodes nor fewer have the memory";
    if (mixing.best == 0) return verdict_for_all(mixing);
    const double gain = best.samples_per_s / all.samples_per_s - 1;
    if (gain < kMixingMatters)
      return fmt::format("leaving out {} changes the speed by less than 1 %", best.left_out);
    return fmt::format("leaving out {} is {} % faster", best.left_out, percent(gain, 0));
  }

  /// Returns the verdict where the job is best on all its nodes, compared with the next choice.
  static std::string verdict_for_all(const Mixing& mixing) {
    const auto next =
        std::max_element(mixing.choices.begin() + 1, mixing.choices.end(),
                         [](const MixingChoice& a, const MixingChoice& b) { return is_better(b, a); });
    const double gain = mixing.choices.front().samples_per_s / next->samples_per_s - 1;
    if (!next->fits) return fmt::format("without {} it does not fit into memory", next->left_out);
    if (gain < kMixingMatters)
      return fmt::format("leaving out {} changes the speed by less than 1 %", next->left_out);
    return fmt::format("all nodes together are {} % faster than without {}", percent(gain, 0),
                       next->left_out);
  }

  const PointPredictor& points_;
  const PredictionPoint& point_;
  const Scenario& scenario_;
  const Placement placement_;
};

}  // namespace

std::optional<Mixing> what_mixing_costs(const PointPredictor& points, const PredictionPoint& point) {
  if (point.unlike.empty()) return std::nullopt;
  return Mixer(points, point).mix();
}

std::string name_of(const UnlikeShare& ranks) {
  if (ranks.clock >= 1) return ranks.kind;
  return fmt::format("{} at {} % of its clock", ranks.kind, percent(ranks.clock, 0));
}

}  // namespace foretrain

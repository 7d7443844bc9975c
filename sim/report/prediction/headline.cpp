// What does not run comes first, then what is slower than one GPU, then how far more GPUs help and what they
// cost.
#include "sim/report/prediction/headline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/search/crossover.hpp"
#include "sim/analysis/search/mixing.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

const PredictionPoint* listed_point(const Prediction& p, int gpus) {
  const auto found = std::find_if(p.points.begin(), p.points.end(),
                                  [gpus](const PredictionPoint& point) { return point.gpus == gpus; });
  return found == p.points.end() ? nullptr : &*found;
}

std::string times_one(const PredictionPoint* point) {
  return point == nullptr ? "" : fmt::format(" ({}x)", decimal(point->speedup, 2));
}

/// "; the largest loss is the host": what steps on these GPUs, or the most below for which that is known,
/// lose most to.
std::string reason(const Prediction& p, int gpus) {
  const LossPart* most = nullptr;
  for (const CrossoverCause& cause : p.crossover.causes) {
    if (cause.gpus <= gpus && !cause.parts.empty()) most = &cause.parts.front();
  }
  return most == nullptr ? "" : fmt::format("; the largest loss is {}", most->what);
}

/// Of the listed numbers beyond one that fit, the first that is slower than one GPU.
const PredictionPoint* first_slower(const Prediction& p) {
  const auto found = std::find_if(p.points.begin(), p.points.end(), [](const PredictionPoint& point) {
    return point.gpus > 1 && point.fits() && point.speedup < kSlower;
  });
  return found == p.points.end() ? nullptr : &*found;
}

std::string no_number_helps(const Prediction& p) {
  const auto does_not_fit = [](const PredictionPoint& point) { return !point.fits(); };
  if (p.crossover.searched == 1)
    return std::ranges::any_of(p.points, does_not_fit) ? "On more GPUs than one this does not fit into memory"
                                                       : "One GPU is all that this can use";
  if (const PredictionPoint* slower = first_slower(p))
    return fmt::format("{} are slower than one{}{}", counted(slower->gpus, "GPU"), times_one(slower),
                       reason(p, slower->gpus));
  return "More GPUs than one do not help";
}

std::string how_far_they_help(const Prediction& p) {
  const Crossover& c = p.crossover;
  const std::string speedup = times_one(listed_point(p, c.fastest_gpus));
  if (c.fastest_gpus < c.searched) return fmt::format("{} GPUs are fastest{}", c.fastest_gpus, speedup);
  return fmt::format("More GPUs help up to {}{}{}", c.searched < p.cluster_gpus ? "at least " : "all ",
                     c.searched, speedup);
}

std::string what_they_cost(const Crossover& c) {
  if (c.worth_requesting.empty()) return {};
  const WorthRequesting& worth = c.worth_requesting.front();
  if (worth.most >= c.fastest_gpus)
    return fmt::format(", each at least {} % used", percent(worth.efficiency, 0));
  if (worth.most == 1) return fmt::format(", but none is {} % used", percent(worth.efficiency, 0));
  return fmt::format("; beyond {} each is less than {} % used", worth.most, percent(worth.efficiency, 0));
}

}  // namespace

namespace {

/// Only where it pays: else the table says what each choice comes to.
std::string without_slow_nodes(const Prediction& p) {
  if (!p.mixing || p.mixing->best == 0) return {};
  const Mixing& mixing = *p.mixing;
  const MixingChoice &all = mixing.choices.front(), &best = mixing.choices[mixing.best];
  const bool matters = !all.fits || best.samples_per_s / all.samples_per_s - 1 >= kMixingMatters;
  return matters ? fmt::format("; on {} {}", counted(mixing.gpus, "GPU"), mixing.verdict) : "";
}

}  // namespace

std::string headline(const Prediction& p) {
  if (p.points.empty()) return {};
  if (p.cannot_run && !p.memory_unknown.empty())
    return fmt::format("Whether this fits into the memory of these GPUs is not known: {} is not modelled.",
                       p.memory_unknown);
  if (p.cannot_run) return "This cannot run: it does not fit into the memory of these GPUs.";
  const Crossover& c = p.crossover;
  if (c.fastest_gpus == 1) return no_number_helps(p) + without_slow_nodes(p) + ".";
  std::string out = how_far_they_help(p) + what_they_cost(c);
  if (const PredictionPoint* slower = first_slower(p))
    out += fmt::format("; {} are slower than one{}{}", counted(slower->gpus, "GPU"), times_one(slower),
                       reason(p, slower->gpus));
  const auto fits = [](const PredictionPoint& point) { return point.fits(); };
  if (!std::ranges::all_of(p.points, fits)) out += "; numbers marked ! do not fit into memory";
  return out + without_slow_nodes(p) + ".";
}

}  // namespace foretrain

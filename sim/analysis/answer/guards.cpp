// Checks of the shown figures against laws that no machine breaks: peak rates, the length of the kernels, and
// linear speedup.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/step/lower_limit.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"

namespace foretrain {

namespace {

/// Tolerance for the rounding of steps and of shares of a batch.
constexpr double kRounding = 1.02;

}  // namespace

std::string why_more_than_linear(const PointPredictor& points, const Prediction& prediction,
                                 const PredictionPoint& many) {
  const PredictionPoint* one = answered_point(prediction, 1);
  if (one == nullptr || many.efficiency <= kRounding) return {};
  if (chance_of_fitting(*one) < kProbablyFits) return "one GPU cannot hold it";
  const Scenario& scenario = points.simulator().scenario();
  if (scenario.global_batch) return "each GPU has a smaller batch";
  if (scenario.program) return "the recorded program does something else on each number of GPUs";
  if (!points.simulator().model().is_strategy) return "the layout changes with the GPUs";
  double shrunk = 0;
  // Accounts that may shrink with more GPUs although each GPU has the same batch: shared input, sharded
  // optimizer, copies and host work.
  for (const Account account : {Account::input_stall, Account::optimizer, Account::other, Account::host})
    shrunk += std::max(0.0, one->breakdown[static_cast<std::size_t>(account)] -
                                many.breakdown[static_cast<std::size_t>(account)]);
  return one->step_s - many.step_s <= kRounding * shrunk ? "the GPUs share a part of the step" : "";
}

std::string faster_than_peak(int gpus, double mfu) {
  return fmt::format("On {} the step is faster than the GPU's peak rate allows ({} % of it).",
                     counted(gpus, "GPU"), percent(mfu, 0));
}

std::vector<std::string> not_credible(const PointPredictor& points, const Prediction& prediction) {
  std::vector<std::string> out;
  const PredictionPoint* one = answered_point(prediction, 1);
  for (const PredictionPoint& p : prediction.points) {
    if (p.large && p.large->mfu > 1) out.push_back(faster_than_peak(p.gpus, p.large->mfu));
    // The limit is of the simulated step, so the measured correction applies to it, too.
    const double least = step_limit(points.simulator(), p.gpus, points.device()).kernels_s;
    if (p.step_s * kRounding < least * points.correction().factor(p.gpus))
      out.push_back(fmt::format("On {} a step is shorter than its kernels alone.", counted(p.gpus, "GPU")));
    if (one != nullptr && p.efficiency > kRounding && why_more_than_linear(points, prediction, p).empty())
      out.push_back(fmt::format("{} are more than {} times as fast as one, and nothing explains it.",
                                counted(p.gpus, "GPU"), p.gpus));
  }
  return out;
}

}  // namespace foretrain

// A layout is the scenario with other degrees. The data-parallel degree is left open, so that the layout's
// fewest GPUs are the baseline, as in `predict`.
#include "sim/analysis/search/layout_points.hpp"

#include <algorithm>

#include "sim/analysis/search/strategy_order.hpp"
#include "sim/analysis/uncertainty/intervals.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Returns the scenario with this layout on exactly its GPUs.
Scenario with_layout(const Scenario& scenario, const LargeModelRun& job) {
  Scenario own = scenario;
  LargeModelRun open = job;
  open.degrees.data = 0;
  set_layout(own, open);
  own.gpus = {job.gpus()};
  own.global_batch = job.global_batch;
  return own;
}

}  // namespace

LayoutPoints::LayoutPoints(const Scenario& scenario, int most_gpus)
    : scenario_(scenario), base_(scenario, most_gpus) {}

PredictionPoint LayoutPoints::at(const LargeModelRun& job) {
  const Scenario own = with_layout(scenario_, job);
  PointPredictor points(own, base_);
  Decisions ignored;
  PredictionPoint p = points.point(job.gpus(), ignored);
  p.speedup = p.samples_per_s / points.throughput(1).samples_per_s;
  p.efficiency = p.speedup / p.gpus;
  Intervals(points).add_to(p);
  return p;
}

StepResponse LayoutPoints::response_of(const LargeModelRun& job) {
  const Scenario own = with_layout(scenario_, job);
  PointPredictor points(own, base_);
  return Intervals(points).response(job.gpus());
}

StepCauses LayoutPoints::causes_of(const LargeModelRun& job) const {
  const Scenario own = with_layout(scenario_, job);
  PointPredictor points(own, base_);
  return foretrain::causes_of(points, job.gpus());
}

std::vector<std::size_t> shown_rows(const LayoutSearch& search, std::size_t top) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < search.layouts.size(); ++i)
    if (rows.size() < top || search.layouts[i].is_on_front) rows.push_back(i);
  return rows;
}

/// The rows use the same draws, so that inputs which slow both layouts alike cancel in the ratio.
void add_intervals(const Scenario& scenario, const std::vector<std::size_t>& rows, LayoutSearch& search) {
  if (rows.empty()) return;
  LayoutPoints points(scenario, search.gpus);
  const auto speed = [&](std::size_t row, const StepResponse& response) {
    return DrawnSpeed{1 / search.layouts[row].step_s, step_factors(response, points.draws(), search.gpus),
                      row, true};
  };
  const DrawnSpeed first = speed(0, points.response_of(search.layouts.front().job));
  for (const std::size_t row : rows) {
    ModelLayout& layout = search.layouts[row];
    const StepResponse response = points.response_of(layout.job);
    const DrawnSpeed own = row == 0 ? first : speed(row, response);
    layout.interval = around(layout.step_s, reach_of(response));
    const Range faster = speed_ratio_range(first, own, points.draws());
    layout.over_first = {faster.low, faster.high};
  }
}

}  // namespace foretrain

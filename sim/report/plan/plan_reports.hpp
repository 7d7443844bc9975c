// Reports on layouts of a large model, ranked, on one number of GPUs or several.
#pragma once

#include <string>
#include <string_view>

#include "sim/analysis/search/planned_counts.hpp"

namespace foretrain {

/// Options of a plan's report.
struct PlanReportOptions {
  /// Number of layouts in the table, besides those on the Pareto front.
  int top = 10;
};

/// Returns the ranking with ties, why the first layout is the fastest, and what would change that.
std::string write_layouts_table(const LayoutSearch& search, const PlanReportOptions& options);

/// Returns the layouts on one number of GPUs; of several numbers the best layout of each, and from where on
/// more GPUs do not pay.
std::string write_plan_table(const PlannedCounts& plan, const PlanReportOptions& options);
/// Returns schema foretrain.plan/1, or foretrain.plans/1 for several numbers of GPUs.
std::string write_plan_json(const PlannedCounts& plan, const PlanReportOptions& options);
/// Returns one line for each layout.
std::string write_plan_csv(const PlannedCounts& plan, const PlanReportOptions& options);

/// A format: its name, and the function that writes it.
struct PlanReportEntry {
  std::string_view name;
  std::string (*write)(const PlannedCounts& plan, const PlanReportOptions& options);
};
/// The formats of `plan`; the first is the default.
inline constexpr PlanReportEntry kPlanReports[] = {
    {"table", write_plan_table}, {"json", write_plan_json}, {"csv", write_plan_csv}};

/// Returns "12.6 s .. 38.5 s"; "-" when there is no interval.
std::string interval_text(const std::optional<Interval>& interval);

}  // namespace foretrain

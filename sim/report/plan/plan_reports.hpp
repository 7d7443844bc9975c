// Layouts of a large model that fit, ranked, on one number of GPUs or several: for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "sim/analysis/search/planned_counts.hpp"

namespace foretrain {

/// Options of a printed plan.
struct PlanReportOptions {
  int top = 10;  ///< layouts shown, besides those on the front
};

/// The ranking with ties, why the first is first, what would change it.
std::string write_layouts_table(const LayoutSearch& search, const PlanReportOptions& options);

/// Of one number of GPUs its layouts; of several the best of each, and from where on more do not pay.
std::string write_plan_table(const PlannedCounts& plan, const PlanReportOptions& options);
/// Schema foretrain.plan/1, of several foretrain.plans/1.
std::string write_plan_json(const PlannedCounts& plan, const PlanReportOptions& options);
std::string write_plan_csv(const PlannedCounts& plan, const PlanReportOptions& options);

/// A format of a plan: its name, and the function that writes it.
struct PlanReportEntry {
  std::string_view name;
  std::string (*write)(const PlannedCounts& plan, const PlanReportOptions& options);
};
inline constexpr PlanReportEntry kPlanReports[] = {
    {"table", write_plan_table}, {"json", write_plan_json}, {"csv", write_plan_csv}};

/// "12.6 s .. 38.5 s"; "-" where there is none.
std::string interval_text(const std::optional<Interval>& interval);

}  // namespace foretrain

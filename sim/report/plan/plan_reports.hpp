// Layouts of a large model that fit, ranked: for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "sim/analysis/search/layouts.hpp"

namespace foretrain {

struct PlanReportOptions {
  int top = 10;  ///< layouts shown, besides those on the front
};

/// The first layout and why, the ranking with ties, what would change it.
std::string write_plan_table(const LayoutSearch& search, const PlanReportOptions& options);
/// Schema foretrain.plan/1.
std::string write_plan_json(const LayoutSearch& search, const PlanReportOptions& options);
std::string write_plan_csv(const LayoutSearch& search, const PlanReportOptions& options);

struct PlanReportEntry {
  std::string_view name;
  std::string (*write)(const LayoutSearch& search, const PlanReportOptions& options);
};
inline constexpr PlanReportEntry kPlanReports[] = {
    {"table", write_plan_table}, {"json", write_plan_json}, {"csv", write_plan_csv}};

/// How the first layout is started with the framework's own options; empty where it has none.
std::string launch_line(const ModelLayout& layout);  // launch_lines.cpp

}  // namespace foretrain

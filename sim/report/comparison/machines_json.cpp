// The rows for programs, as JSON and as CSV: what cannot run has its reason, and null for its figures.
#include <fmt/format.h>

#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/prediction/csv.hpp"

namespace foretrain {

namespace {

/// A figure of a row that runs; null of others.
template <class T>
Json of_running(const MachineRow& row, T value) {
  return row.runs() ? Json(value) : Json(nullptr);
}

std::optional<double> known_energy(const MachineRow& row) {
  return row.runs() && row.energy_kwh > 0 ? std::optional(row.energy_kwh) : std::nullopt;
}

std::optional<Interval> known_time(const MachineRow& row) {
  return row.runs() && row.time.high_s > 0 ? std::optional(row.time) : std::nullopt;
}

Json row_json(const MachineRow& row) {
  const PredictionPoint point = row.point.value_or(PredictionPoint{});
  return {{"cluster", row.cluster},
          {"gpu", row.gpu},
          {"gpus", row.gpus},
          {"nodes", row.nodes > 0 ? Json(row.nodes) : Json(nullptr)},
          {"runs", row.runs()},
          {"why_not", row.runs() ? Json(nullptr) : Json(row.why_not)},
          {"step_s", of_running(row, point.step_s)},
          {"samples_per_s", of_running(row, point.samples_per_s)},
          {"time_s", of_running(row, row.time_s)},
          {"time_interval", interval_json(known_time(row))},
          {"speed", of_running(row, row.speed)},
          {"gpu_hours", of_running(row, row.gpu_hours)},
          {"energy_kwh", or_null(known_energy(row))},
          {"cost", or_null(row.cost)},
          {"cost_unit", row.cost ? Json(row.cost_unit) : Json(nullptr)},
          {"memory", row.point ? memory_json(point) : Json(nullptr)}};
}

std::string row_csv(const MachineRow& row) {
  const auto figure = [&row](double value) {
    return csv_figure(row.runs() ? std::optional(value) : std::nullopt);
  };
  const PredictionPoint point = row.point.value_or(PredictionPoint{});
  const std::string bytes = row.point ? fmt::format("{}", point.memory.total().count) : "";
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.cluster),
                     csv_field(row.gpu), row.gpus, row.nodes > 0 ? fmt::format("{}", row.nodes) : "",
                     row.runs() ? 1 : 0, figure(point.step_s), figure(point.samples_per_s),
                     figure(row.time_s), csv_figures(known_time(row)), figure(row.speed),
                     figure(row.gpu_hours), csv_figure(known_energy(row)), csv_figure(row.cost),
                     csv_field(row.cost_unit), bytes, csv_field(row.why_not));
}

}  // namespace

std::string write_machines_json(const MachineComparison& c, const ReportOptions&) {
  Json rows = Json::array(), decisions = Json::object();
  for (const MachineRow& row : c.rows) rows.push_back(row_json(row));
  for (const auto& [cluster, list] : c.decisions) decisions[cluster] = decisions_json(list);
  return json_text({{"schema", "foretrain.machines/1"},
                    {"scenario", c.scenario},
                    {"model", c.model},
                    {"strategy", c.strategy},
                    {"precision", c.precision},
                    {"scaling", c.strong_scaling ? "strong" : "weak"},
                    {"batch", c.batch},
                    {"amount", std::string(name_of(c.amount))},
                    {"deadline_s", or_null(c.deadline_s)},
                    {"compares", c.counts_cost ? "cost" : "gpu_hours"},
                    {"verdict", c.verdict},
                    {"fastest", or_null(c.fastest)},
                    {"cheapest", or_null(c.cheapest)},
                    {"best", or_null(c.best)},
                    {"rows", std::move(rows)},
                    {"measured", c.measured},
                    {"decisions", std::move(decisions)},
                    {"warnings", c.warnings}});
}

std::string write_machines_csv(const MachineComparison& c, const ReportOptions&) {
  std::string out =
      "scenario,amount,cluster,gpu,gpus,nodes,runs,step_s,samples_per_s,time_s,time_low_s,time_high_s,speed,"
      "gpu_hours,energy_kwh,cost,cost_unit,memory_bytes,why_not\n";
  for (const MachineRow& row : c.rows)
    out += fmt::format("{},{},{}", csv_field(c.scenario), name_of(c.amount), row_csv(row));
  return out;
}

}  // namespace foretrain

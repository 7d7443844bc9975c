// Values to JSON, key by key; a strategy that cannot run has nothing but its reason.
#include "sim/analysis/step/known_figures.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

Json parts_json(const std::vector<StepPart>& parts) {
  Json out = Json::array();
  for (const StepPart& part : parts) out.push_back({{"what", part.name}, {"seconds", part.seconds}});
  return out;
}

bool is_corrected(const Comparison& c) { return c.evidence && c.evidence->is_applied(); }

Json strategy_json(const ComparedStrategy& row, const Comparison& c) {
  if (!row.why_not.empty())
    return {{"strategy", row.strategy},
            {"runs", false},
            {"standing", std::string(name_of(row.standing))},
            {"why_not", row.why_not}};
  const PredictionPoint& p = row.point;
  const KnownFigures known = known_figures(p);
  Json out{{"strategy", row.strategy},
           {"runs", true},
           {"standing", std::string(name_of(row.standing))},
           {"needs", row.needs},
           {"ratio",
            {{"value", or_null(known_ratio(row))},
             {"low", known_ratio(row) ? Json(row.ratio_range.low) : Json(nullptr)},
             {"high", known_ratio(row) ? Json(row.ratio_range.high) : Json(nullptr)},
             {"level", 0.9}}},
           {"batch_per_gpu", p.batch_per_gpu},
           {"global_batch", p.global_batch},
           {"step_s", p.step_s},
           {"epoch_s", or_null(known.epoch_s)},
           {"total_s", or_null(known.total_s)},
           {"samples_per_s", p.samples_per_s},
           {"speedup", or_null(known.speedup)},
           {"efficiency", or_null(known.efficiency)}};
  if (is_corrected(c)) out["raw_step_s"] = row.raw_step_s;
  out["memory"] = memory_json(p);
  out["breakdown"] = breakdown_json(p.breakdown);
  out["job_losses"] = row.job_losses;
  out["parts"] = parts_json(row.parts);
  out["against_best"] = parts_json(row.against_best);
  return out;
}

bool fits(const ComparedStrategy* row) { return row != nullptr && row->point.fits(); }

/// Names come from files and may hold any bytes: invalid UTF-8 is replaced.
Json comparison_json(const Comparison& c) {
  Json out{{"schema", "foretrain.comparison/1"},
           {"scenario", c.scenario},
           {"model", c.model},
           {"cluster", c.cluster},
           {"precision", c.precision},
           {"scaling", c.strong_scaling ? "strong" : "weak"},
           {"own_strategy", c.own_strategy},
           {"one_gpu_step_s", c.one_gpu_step_s}};
  Json numbers = Json::array();
  for (const ComparedGpus& row : c.numbers) {
    Json strategies = Json::array();
    for (const ComparedStrategy& strategy : row.strategies) strategies.push_back(strategy_json(strategy, c));
    numbers.push_back({{"gpus", row.gpus},
                       {"nodes", row.nodes},
                       {"verdict", row.answer.verdict},
                       {"answer", answer_json(row.answer)},
                       {"fastest", fits(row.best()) ? Json(row.fastest) : Json(nullptr)},
                       {"strategies", std::move(strategies)}});
  }
  out["points"] = std::move(numbers);
  if (is_corrected(c)) out["evidence"] = evidence_json(*c.evidence);
  out["decisions"] = decisions_json(c.decisions);
  out["warnings"] = c.warnings;
  return out;
}

}  // namespace

std::string write_comparison_json(const Comparison& c, const ReportOptions&) {
  return json_text(comparison_json(c));
}

std::string write_comparisons_json(const std::vector<Comparison>& comparisons, const ReportOptions&) {
  Json all = Json::array();
  for (const Comparison& comparison : comparisons) all.push_back(comparison_json(comparison));
  return json_text({{"schema", "foretrain.comparisons/1"}, {"comparisons", std::move(all)}});
}

std::string write_matrix_json(const StrategyMatrix& m) {
  Json out{{"schema", "foretrain.strategies/1"}, {"gpus", m.gpus}, {"strategies", m.strategies}};
  Json choices = Json::array();
  for (const StrategyChoice& c : m.choices) {
    const bool alone = c.runner_up.empty();
    choices.push_back({{"model", c.model},
                       {"cluster", c.cluster},
                       {"best", c.best},
                       {"others_as_fast", c.others_as_fast},
                       {"step_s", c.step_s},
                       {"speedup", c.fits ? Json(c.speedup) : Json(nullptr)},
                       {"fits", c.fits},
                       {"runner_up", alone ? Json(nullptr) : Json(c.runner_up)},
                       {"runner_up_by", alone ? Json(nullptr) : Json(c.runner_up_by)}});
  }
  out["choices"] = std::move(choices);
  return json_text(out);
}

}  // namespace foretrain

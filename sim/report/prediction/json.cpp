// Values to JSON, key by key in the order of the contract.
#include "sim/report/prediction/json.hpp"

#include <fmt/format.h>

#include "sim/analysis/step/known_figures.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/analysis/validation/strategy_choices.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

/// The whole with its parts, which sum to it.
Json whole_memory_json(const PredictionPoint& p) {
  return {{"bytes", p.memory.total().count},
          {"capacity_bytes", p.memory_capacity.count},
          {"fits", p.fits()},
          {"fits_tightly", p.fits_tightly()},
          {"chance_of_fitting", chance_of_fitting(p)},
          {"largest_batch_per_gpu", p.largest_batch},
          {"parameters_bytes", p.memory.parameters.count},
          {"gradients_bytes", p.memory.gradients.count},
          {"optimizer_bytes", p.memory.optimizer.count},
          {"buckets_bytes", p.memory.buckets.count},
          {"activations_bytes", p.memory.activations.count},
          {"workspace_bytes", p.memory.workspace.count},
          {"framework_bytes", p.memory.framework.count}};
}

Json range_json(const std::optional<Range>& range, double level) {
  if (!range) return nullptr;
  return {{"low", range->low}, {"high", range->high}, {"level", level}};
}

Json point_json(const PredictionPoint& p) {
  const KnownFigures known = known_figures(p);
  Json out{{"gpus", p.gpus},
           {"nodes", p.nodes},
           {"batch_per_gpu", p.batch_per_gpu},
           {"global_batch", p.global_batch},
           {"steps_per_epoch", or_null(known.steps_per_epoch)},
           {"step_s", p.step_s},
           {"epoch_s", or_null(known.epoch_s)},
           {"total_s", or_null(known.total_s)},
           {"samples_per_s", p.samples_per_s},
           {"speedup", or_null(known.speedup)},
           {"efficiency", or_null(known.efficiency)},
           {"gpu_hours", or_null(known.gpu_hours)}};
  out["other_s"] = p.overhead.total_s();
  out["startup_s"] = p.overhead.startup_s;
  out["loader_restart_s"] = p.overhead.loader_restart_s;
  out["validation_s"] = p.overhead.validation_s;
  out["checkpoint_s"] = p.overhead.checkpoint_s;
  out["periodic_s"] = p.overhead.periodic_s;
  out["interval"] = interval_json(known.interval);
  out["epoch_interval"] = interval_json(known.epoch_interval);
  out["total_interval"] = interval_json(known.total_interval);
  out["speedup_interval"] = range_json(known.speedup_range, p.interval.level);
  out["chance_of_gain"] = or_null(known.chance_of_gain);
  out["memory"] = whole_memory_json(p);
  out["breakdown"] = breakdown_json(p.breakdown);
  Json buckets = Json::array();
  for (const Bytes bucket : p.buckets) buckets.push_back(bucket.count);
  out["buckets_bytes"] = std::move(buckets);
  if (p.large)
    out["parallel"] = {{"layout", p.large->layout},
                       {"micro_batches", p.large->micro_batches},
                       {"tokens_per_s_per_gpu", p.large->tokens_per_s_per_gpu},
                       {"model_tflops_per_gpu", p.large->model_tflops},
                       {"mfu", p.large->mfu},
                       {"bubble", p.large->bubble},
                       {"fullest_stage", p.large->fullest_stage}};
  if (p.unlike.empty()) return out;
  out["unlike_ranks"] = unlike_json(p.unlike);
  out["waits_for_slower_s"] = p.waits_for_slower_s;
  out["memory"]["kind"] = p.memory_kind;
  return out;
}

/// The 90 % interval of each answer of the crossover; null where no draw has one.
Json crossover_spread_json(const CrossoverSpread& s) {
  return {{"fastest_gpus", {{"low", s.fastest_low}, {"high", s.fastest_high}}},
          {"chance_slower_than_one_gpu", s.chance_slower_than_one},
          {"slower_than_one_gpu_from",
           {{"low", or_null(s.slower_from_low)}, {"high", or_null(s.slower_from_high)}}},
          {"level", 0.9}};
}

Json sensitivity_json(const Sensitivity& s) {
  Json out{{"gpus", s.gpus},
           {"total_s", s.is_of_step ? Json(nullptr) : Json(s.total_s)},
           {"step_s", s.is_of_step ? Json(s.total_s) : Json(nullptr)},
           {"interval", interval_json(s.interval)}};
  out["inputs"] = Json::array();
  for (const TornadoBar& bar : s.bars)
    out["inputs"].push_back({{"input", bar.input},
                             {"origin", bar.origin},
                             {"low_s", bar.low_s},
                             {"high_s", bar.high_s},
                             {"share", bar.share}});
  out["measure"] = Json::array();
  for (const NarrowedBy& n : s.narrowed)
    out["measure"].push_back({{"what", n.measurement}, {"low_s", n.low_s}, {"high_s", n.high_s}});
  return out;
}

Json cause_json(const CrossoverCause& cause) {
  Json parts = Json::array();
  for (const LossPart& part : cause.parts)
    parts.push_back({{"what", part.what}, {"seconds", part.seconds}, {"share", part.share}});
  return {{"gpus", cause.gpus}, {"loss_s", cause.loss_s}, {"parts", std::move(parts)}};
}

Json ranges_json(const std::vector<GpuRange>& ranges) {
  Json out = Json::array();
  for (const GpuRange& r : ranges) out.push_back({{"first", r.first}, {"last", r.last}});
  return out;
}

Json crossover_json(const Crossover& c) {
  Json out{{"fastest_gpus", c.fastest_gpus},
           {"slower_than_one_gpu", ranges_json(c.slower_than_one_gpu)},
           {"slower_than_fewer_gpus", ranges_json(c.slower_than_fewer)},
           {"no_gain_from", or_null(c.no_gain_from)}};
  out["efficiency_below"] = {{"0.9", or_null(c.efficiency_below_90)},
                             {"0.8", or_null(c.efficiency_below_80)},
                             {"0.5", or_null(c.efficiency_below_50)},
                             {"0.7", or_null(c.efficiency_below_70)}};
  // The first ends of the ranges above: older readers know these keys.
  out["slower_than_one_gpu_from"] = or_null(first_of_ranges(c.slower_than_one_gpu));
  out["slower_than_previous_from"] = or_null(first_of_ranges(c.slower_than_fewer));
  out["cause"] = c.cause;
  Json worth = Json::object();
  for (const WorthRequesting& w : c.worth_requesting)
    worth[fmt::format("{:g}", w.efficiency)] = {{"every_up_to", w.every_up_to}, {"most", w.most}};
  out["worth_requesting"] = std::move(worth);
  Json causes = Json::array();
  for (const CrossoverCause& cause : c.causes) causes.push_back(cause_json(cause));
  out["causes"] = std::move(causes);
  out["search"] = {
      {"up_to", c.searched}, {"numbers", c.numbers}, {"simulated", c.simulated}, {"certain", c.is_certain}};
  return out;
}

/// "at" is null beside a reason where nothing can be varied, and beside the limit where nothing below it is
/// enough.
Json break_even_value_json(const BreakEvenValue& v) {
  if (!v.why_not.empty()) return {{"at", nullptr}, {"why_not", v.why_not}};
  return {{"now", v.now},     {"beats_now", v.beats_now}, {"at", or_null(v.at)},
          {"limit", v.limit}, {"fits", v.fits},           {"is_upper", v.is_upper}};
}

Json break_even_json(const BreakEven& b) {
  Json out{{"gpus", b.gpus}, {"speedup", b.speedup}};
  // Which of the two a person would change.
  out[b.strong_scaling ? "global_batch" : "batch_per_gpu"] = break_even_value_json(b.batch);
  out["width"] = break_even_value_json(b.width);
  out["epoch_samples"] = break_even_value_json(b.epoch_samples);
  if (b.epoch_samples.now == 0) out["epoch_samples"]["now"] = out["epoch_samples"]["beats_now"] = nullptr;
  out["link"] = b.link.empty() ? Json(nullptr) : Json(b.link);
  out["link_bytes_per_s"] = b.link.empty() ? Json(nullptr) : Json(b.link_bytes_per_s);
  out["bandwidth"] = break_even_value_json(b.bandwidth);
  out["fastest"] = break_even_value_json(b.fastest);
  out["fastest"]["gpus_now"] = b.fastest_now;
  out["fastest"]["gpus_then"] = b.fastest_then;
  return out;
}

}  // namespace

Json interval_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low_s", interval->low_s}, {"high_s", interval->high_s}, {"level", interval->level}};
}

Json memory_json(const PredictionPoint& p) {
  return {{"bytes", p.memory.total().count},
          {"capacity_bytes", p.memory_capacity.count},
          {"fits", p.fits()},
          {"largest_batch_per_gpu", p.largest_batch}};
}

Json statistics_json(const ErrorStatistics& s) {
  return {{"median", s.median}, {"p90", s.p90}, {"mean", s.mean}, {"bias", s.bias}};
}

namespace {

Json skipped_json(const std::vector<SkippedRow>& rows) {
  Json out = Json::array();
  for (const SkippedRow& row : rows) out.push_back({{"row", row.row}, {"why", row.why}});
  return out;
}

Json inferred_settings_json(const std::vector<InferredSetting>& settings) {
  Json out = Json::array();
  for (const InferredSetting& setting : settings) {
    out.push_back({{"what", setting.what}, {"rows", setting.rows}});
    if (!setting.said_in.empty()) out.back()["said_in"] = setting.said_in;
  }
  return out;
}

Json unreached_json(const std::vector<UnreachedAnchor>& anchors) {
  Json out = Json::array();
  for (const UnreachedAnchor& anchor : anchors)
    out.push_back({{"series", anchor.series},
                   {"row", anchor.row},
                   {"gpus", anchor.gpus},
                   {"unscored_rows", anchor.unscored.size()},
                   {"why", anchor.why}});
  return out;
}

/// Keys that were asked for, in their order, and what the rows that share their values come to.
Json groups_json(const Validation& validation, const std::vector<GroupKeys>& groups) {
  Json out = Json::array();
  for (const GroupKeys& keys : groups) {
    for (const ErrorGroup& group : group_errors(validation, keys)) {
      Json by = Json::object();
      for (std::size_t i = 0; i < keys.size(); ++i) by[keys[i]] = group.values[i];
      out.push_back({{"by", std::move(by)},
                     {"rows", group.rows},
                     {"failed", group.failed},
                     {"error", statistics_json(group.error)},
                     {"coverage", group.coverage},
                     {"width", group.width}});
    }
  }
  return out;
}

Json point_json(const ValidatedCollective& p) {
  return {{"bytes", p.bytes},
          {"measured", p.measured},
          {"predicted", p.predicted},
          {"error", p.error},
          {"low", p.low},
          {"high", p.high},
          // NCCL forecasts only what it has algorithms for.
          {"nccl_model", p.nccl_model > 0 ? Json(p.nccl_model) : Json(nullptr)},
          {"algorithm", p.algorithm},
          {"protocol", name_of(p.protocol)},
          {"channels", p.channels}};
}

Json series_json(const ValidatedCollectiveSeries& s) {
  Json out{{"series", s.series}, {"cluster", s.cluster}, {"op", s.op},
           {"gpus", s.gpus},     {"nodes", s.nodes},     {"median", s.median},
           {"p90", s.p90},       {"worst", s.worst},     {"bias", s.bias}};
  Json points = Json::array();
  for (const ValidatedCollective& p : s.points) points.push_back(point_json(p));
  out["points"] = std::move(points);
  return out;
}

/// Names come from files and may hold any bytes: invalid UTF-8 is replaced.
Json prediction_json(const Prediction& p) {
  Json out{{"schema", "foretrain.prediction/1"},
           {"scenario", p.scenario},
           {"model", p.model},
           {"cluster", p.cluster},
           {"strategy", p.strategy},
           {"precision", p.precision},
           {"scaling", p.strong_scaling ? "strong" : "weak"},
           {"headline", p.answer.verdict}};
  Json points = Json::array();
  for (const PredictionPoint& point : p.points) points.push_back(point_json(point));
  out["points"] = std::move(points);
  out["answer"] = answer_json(p.answer);
  out["cannot_run"] = p.cannot_run;
  out["crossover"] = p.cannot_run ? Json(nullptr) : crossover_json(p.crossover);
  out["crossover_interval"] = p.cannot_run ? Json(nullptr) : crossover_spread_json(p.crossover_spread);
  out["to_narrow"] = p.to_narrow.empty() ? Json(nullptr) : Json(p.to_narrow);
  if (p.recommendation) out["recommendation"] = recommendation_json(*p.recommendation);
  if (p.sensitivity) out["sensitivity"] = sensitivity_json(*p.sensitivity);
  if (p.sensitivity && p.evidence) out["sensitivity"]["runs"] = runs_json(p.evidence->runs);
  if (p.evidence && !p.evidence->raw.empty() && p.evidence->is_applied())
    out["evidence"] = evidence_json(*p.evidence);
  if (p.mixing) out["mixing"] = mixing_json(*p.mixing);
  if (p.break_even) out["break_even"] = break_even_json(*p.break_even);
  out["decisions"] = decisions_json(p.decisions);
  out["warnings"] = p.warnings;
  out["extrapolated"] = p.extrapolated;
  return out;
}

Json choices_json(const StrategyChoices& c) {
  return {{"settings", c.settings}, {"first_right", c.first_right},  {"fastest_right", c.fastest_right},
          {"tied", c.tied},         {"tied_right", c.tied_right},    {"tied_near", c.tied_near},
          {"slower", c.slower},     {"slower_right", c.slower_right}};
}

}  // namespace

std::string write_json(const Prediction& p, const ReportOptions&) { return json_text(prediction_json(p)); }

std::string write_predictions_json(const std::vector<Prediction>& predictions) {
  Json out{{"schema", "foretrain.predictions/1"}, {"predictions", Json::array()}};
  for (const Prediction& p : predictions) out["predictions"].push_back(prediction_json(p));
  return json_text(out);
}

std::string write_validation_json(const Validation& v, const std::vector<GroupKeys>& groups) {
  Json out{{"schema", "foretrain.validation/1"}, {"kind", v.kind}, {"rows", v.rows}, {"scored", v.scored}};
  out["skipped"] = skipped_json(v.skipped);
  if (v.anchored) out["unreached_anchors"] = unreached_json(v.unreached);
  if (!v.provenance.empty()) out["provenance"] = v.provenance;
  if (!v.inferred_settings.empty()) out["row_facts"] = inferred_settings_json(v.inferred_settings);
  out["error"] = statistics_json(v.error);
  out["coverage"] = v.coverage;
  out["baseline"] = Json::object();
  if (v.anchored) out["baseline"]["linear"] = statistics_json(v.linear);
  if (const StrategyChoices c = strategy_choices(v); c.settings > 0)
    out["strategy_choices"] = choices_json(c);
  if (!groups.empty()) out["groups"] = groups_json(v, groups);
  Json series = Json::array();
  for (const ValidatedSeries& s : v.series) {
    Json points = Json::array();
    for (const ValidatedPoint& p : s.points)
      points.push_back({{"gpus", p.gpus},
                        {"measured", p.measured},
                        {"predicted", p.predicted},
                        {"error", p.error},
                        {"low", p.low},
                        {"high", p.high}});
    series.push_back(
        {{"series", s.series}, {"median", s.median}, {"worst", s.worst}, {"points", std::move(points)}});
  }
  out["series"] = std::move(series);
  return json_text(out);
}

std::string write_validation_json(const CollectiveValidation& v) {
  Json out{
      {"schema", "foretrain.validation/1"}, {"kind", "collective"}, {"rows", v.rows}, {"scored", v.scored}};
  out["skipped"] = skipped_json(v.skipped);
  out["error"] = statistics_json(v.error);
  out["large"] = statistics_json(v.large);
  out["coverage"] = v.coverage;
  out["width"] = v.width;
  out["baseline"] = Json::object();
  if (v.nccl_rows > 0) out["baseline"]["nccl_model"] = statistics_json(v.nccl_model);
  Json series = Json::array();
  for (const ValidatedCollectiveSeries& s : v.series) series.push_back(series_json(s));
  out["series"] = std::move(series);
  return json_text(out);
}

}  // namespace foretrain

// Declares the JSON fields and CSV columns of a comparison of strategies. A strategy that cannot run has no
// figures, only its reason.
//
// Units are seconds, bytes and samples per second. `ratio` compares samples per second with those of the
// fastest strategy on the same number of GPUs, so it is at most 1 for the others.
#include "sim/report/comparison/comparison_fields.hpp"

#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/fields/csv_table.hpp"
#include "sim/report/prediction/csv.hpp"

namespace foretrain {

template <>
const OutputObject<StepPart>& output_object<StepPart>();

namespace {

// A strategy on one number of GPUs, and whether measured runs corrected all strategies.
struct ShownStrategy {
  const ComparedStrategy& row;
  bool is_corrected;
};
// The strategies on one number of GPUs, with the comparison that they belong to.
struct ShownNumbers {
  const ComparedGpus& row;
  const Comparison& of;
};
// Speed relative to the fastest strategy, with its 90 % interval; no value when the strategy does not fit
// into memory.
struct KnownRatio {
  std::optional<double> value;
  Range range;
};

/// Returns true when measured runs changed the predictions.
bool is_corrected(const Comparison& c) { return c.evidence && c.evidence->is_applied(); }

/// Returns the function that reads one member of a row.
template <class Figure>
auto of_row(Figure ComparedStrategy::*figure) {
  return [figure](const ShownStrategy& s) { return s.row.*figure; };
}

/// Returns the function that computes a figure for a strategy that runs; none for others.
template <class Get>
auto running(Get get) {
  return [get](const ShownStrategy& s) {
    return s.row.why_not.empty() ? std::optional(std::invoke(get, s.row)) : std::nullopt;
  };
}

/// Returns fields of a prediction's point under the names that a prediction uses, for strategies that run.
OutputFields<ShownStrategy> point_fields(std::initializer_list<std::string_view> names) {
  return fields_of_part<ShownStrategy>(
      chosen_fields(output_object<PredictionPoint>(), names),
      [](const ShownStrategy& s) { return s.row.why_not.empty() ? &s.row.point : nullptr; });
}

// A field of a strategy that cannot run is absent, not null.
constexpr WhenUnknown kIfItRuns = WhenUnknown::is_absent;

}  // namespace

// foretrain.comparison/1: points[].strategies[].parts[] and against_best[].
template <>
const OutputObject<StepPart>& output_object<StepPart>() {
  static const OutputObject<StepPart> object{
      "StepPart",
      "A part of a step, or a difference of one",
      {{"what", "in words", &StepPart::name}, {"seconds", "of the step", &StepPart::seconds}}};
  return object;
}

// foretrain.comparison/1: points[].strategies[].ratio.
template <>
const OutputObject<KnownRatio>& output_object<KnownRatio>() {
  using R = KnownRatio;
  static const OutputObject<R> object{
      "SpeedRatio",
      "Samples per second over those of the fastest; null: it does not fit into memory",
      {{"value", "the ratio", &R::value},
       {"low", "lower end", [](const R& r) { return r.value ? std::optional(r.range.low) : std::nullopt; }},
       {"high", "upper end", [](const R& r) { return r.value ? std::optional(r.range.high) : std::nullopt; }},
       {"level", "share of cases that lie inside", [](const R&) { return 0.9; }}}};
  return object;
}

// foretrain.comparison/1: points[].strategies[].
template <>
const OutputObject<ShownStrategy>& output_object<ShownStrategy>() {
  using S = ShownStrategy;
  static const OutputFields<S> standing{
      {"strategy", "how the work is divided", of_row(&ComparedStrategy::strategy)},
      {"runs", "whether it can run on these GPUs", [](const S& s) { return s.row.why_not.empty(); }},
      {"standing", "how it stands to the fastest", [](const S& s) { return name_of(s.row.standing); }},
      {"why_not", "why it cannot run",
       [](const S& s) { return s.row.why_not.empty() ? std::nullopt : std::optional(s.row.why_not); },
       kIfItRuns},
      {"needs", "what it takes besides a script of the scenario's framework; empty: nothing",
       running(&ComparedStrategy::needs), kIfItRuns},
      {"ratio", "samples per second over those of the fastest; null: it does not fit into memory",
       running([](const ComparedStrategy& row) {
         return KnownRatio{known_ratio(row), row.ratio_range};
       }),
       kIfItRuns}};
  static const OutputFields<S> corrected{
      {"raw_step_s", "as simulated, where measured runs corrected it",
       [](const S& s) {
         const bool is_shown = s.is_corrected && s.row.why_not.empty();
         return is_shown ? std::optional(s.row.raw_step_s) : std::nullopt;
       },
       kIfItRuns},
      {"memory", "of the GPU that needs most",
       running([](const ComparedStrategy& row) { return ShortMemory{row.point}; }), kIfItRuns}};
  // The parts of a strategy sum to its step; against_best are the differences of these parts.
  static const OutputFields<S> parts{{"job_losses", "what launch or sampler waste, in words",
                                      running(&ComparedStrategy::job_losses), kIfItRuns},
                                     {"parts", "of its step", running(&ComparedStrategy::parts), kIfItRuns},
                                     {"against_best", "its parts minus those of the fastest, largest first",
                                      running(&ComparedStrategy::against_best), kIfItRuns}};
  static const OutputObject<S> object{
      "StrategyResult", "One strategy on one number of GPUs; without figures where it cannot run",
      standing +
          point_fields({"batch_per_gpu", "global_batch", "step_s", "epoch_s", "total_s", "samples_per_s",
                        "speedup", "efficiency"}) +
          corrected + point_fields({"breakdown"}) + parts};
  return object;
}

// foretrain.comparison/1: points[].
template <>
const OutputObject<ShownNumbers>& output_object<ShownNumbers>() {
  using N = ShownNumbers;
  static const OutputObject<N> object{
      "ComparisonPoint",
      "One number of GPUs: the strategies side by side",
      {{"gpus", "number of GPUs", [](const N& n) { return n.row.gpus; }},
       {"nodes", "nodes they are on", [](const N& n) { return n.row.nodes; }},
       {"verdict", "whether to change the strategy, in a sentence",
        [](const N& n) { return n.row.answer.verdict; }},
       {"answer", "the one answer, as every output says it", [](const N& n) { return n.row.answer; }},
       {"fastest", "of those that fit; null: none does",
        [](const N& n) {
          const ComparedStrategy* best = n.row.best();
          return best != nullptr && best->point.fits() ? std::optional(n.row.fastest) : std::nullopt;
        }},
       {"strategies", "the one to use first", [](const N& n) {
          std::vector<ShownStrategy> out;
          for (const ComparedStrategy& row : n.row.strategies) out.push_back({row, is_corrected(n.of)});
          return out;
        }}}};
  return object;
}

// foretrain.comparison/1: the whole report.
template <>
const OutputObject<Comparison>& output_object<Comparison>() {
  using C = Comparison;
  static const OutputObject<C> object{
      "Comparison", "Strategies side by side",
      schema_of_report<C>("comparison") +
          OutputFields<C>{
              {"scenario", "its name: the file without folder and ending, or \"model on cluster\"",
               &C::scenario},
              {"model", "the network", &C::model},
              {"cluster", "the cluster", &C::cluster},
              {"precision", "as model.precision of a scenario; \"as recorded\" of a recorded program",
               &C::precision},
              {"scaling", "weak: the batch per GPU stays; strong: the global batch does",
               [](const C& c) { return scaling_name(c.strong_scaling); }, kScalings},
              {"own_strategy", "that of the scenario", &C::own_strategy},
              {"one_gpu_step_s", "a step of the plain loop on one GPU", &C::one_gpu_step_s},
              {"points", "one for each number of GPUs or size",
               [](const C& c) {
                 std::vector<ShownNumbers> out;
                 for (const ComparedGpus& row : c.numbers) out.push_back({row, c});
                 return out;
               }},
              {"evidence",
               "where measured runs corrected every strategy by the scenario's own; raw is empty, each "
               "strategy has raw_step_s; --evidence off: never",
               [](const C& c) { return is_corrected(c) ? c.evidence : std::nullopt; }, kIfItRuns},
              {"decisions", "what the model chose, and why", [](const C& c) { return c.decisions.list(); }},
              {"warnings", "what the user should know, in sentences", &C::warnings}},
      "comparison"};
  return object;
}

// foretrain.comparisons/1: one report for each scenario.
template <>
const OutputObject<SeveralComparisons>& output_object<SeveralComparisons>() {
  using S = SeveralComparisons;
  static const OutputObject<S> object{
      "Comparisons", "Several comparisons",
      schema_of_report<S>("comparisons") + OutputFields<S>{{"comparisons", "one for each scenario",
                                                            [](const S& s) { return s.comparisons; }}}};
  return object;
}

namespace {

// The CSV columns: name, and the path of the JSON field from a strategy's object. "../" leads to the number
// of GPUs, "../../" to the report; "#" is the place in the ranking.
const std::vector<CsvColumn> kComparisonColumns{
    {"scenario", "../../scenario"},
    {"model", "../../model"},
    {"cluster", "../../cluster"},
    {"precision", "../../precision"},
    {"gpus", "../gpus"},
    {"nodes", "../nodes"},
    {"rank", "#"},
    {"strategy"},
    {"standing"},
    {"needs"},
    {"batch_per_gpu"},
    {"global_batch"},
    {"step_s"},
    {"epoch_s"},
    {"samples_per_s"},
    {"speedup"},
    {"ratio", "ratio/value"},
    {"ratio_low", "ratio/low"},
    {"ratio_high", "ratio/high"},
    {"exposed_communication_s", "breakdown/exposed_communication_s"},
    {"memory_bytes", "memory/bytes"},
    {"fits", "memory/fits", CsvFlags::as_digits},
    {"against_best", "differences"},
    {"why_not"},
};

/// Returns the report with an extra key that holds the differences to the fastest strategy in words, for the
/// CSV cell.
Json with_differences(const Comparison& c) {
  Json out = declared_json(c);
  for (std::size_t i = 0; i < c.numbers.size(); ++i)
    for (std::size_t k = 0; k < c.numbers[i].strategies.size(); ++k) {
      const std::vector<StepPart>& against = c.numbers[i].strategies[k].against_best;
      if (!against.empty()) out["points"][i]["strategies"][k]["differences"] = differences_in_words(against);
    }
  return out;
}

}  // namespace

std::string write_comparison_json(const Comparison& c, const ReportOptions&) {
  return json_text(declared_json(c));
}

std::string write_comparisons_json(const std::vector<Comparison>& comparisons, const ReportOptions&) {
  return json_text(declared_json(SeveralComparisons{comparisons}));
}

// Strategies that cannot run have a line too, with their reason in the last column.
std::string write_comparison_csv(const Comparison& c, const ReportOptions&) {
  return csv_table(kComparisonColumns, with_differences(c), "points/strategies");
}

std::string write_comparisons_csv(const std::vector<Comparison>& comparisons, const ReportOptions& options) {
  std::vector<std::string> texts;
  for (const Comparison& comparison : comparisons) texts.push_back(write_comparison_csv(comparison, options));
  return joined_csv(texts);
}

}  // namespace foretrain

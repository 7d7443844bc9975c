// Declares the JSON fields and CSV columns of the best strategy for each pair of model and cluster.
//
// A strategy counts as equally fast within 2 % of the best one.
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/comparison/comparison_fields.hpp"
#include "sim/report/fields/csv_table.hpp"

namespace foretrain {

// foretrain.strategies/1: choices[].
template <>
const OutputObject<StrategyChoice>& output_object<StrategyChoice>() {
  using C = StrategyChoice;
  static const OutputObject<C> object{
      "StrategyChoice",
      "The best strategy of one network on one cluster",
      {{"model", "the network", &C::model},
       {"cluster", "the cluster", &C::cluster},
       {"best", "the strategy to use", &C::best},
       {"others_as_fast", "strategies besides it that are as fast", &C::others_as_fast},
       {"step_s", "a step of the best", &C::step_s},
       {"speedup", kSpeedupMeaning,
        [](const C& c) { return c.fits ? std::optional(c.speedup) : std::nullopt; }},
       {"fits", "whether it fits into memory", &C::fits},
       {"runner_up", "the first that is no longer as fast; null: there is none",
        [](const C& c) { return c.runner_up.empty() ? std::nullopt : std::optional(c.runner_up); }},
       {"runner_up_by", "samples per second of the runner-up over those of the best",
        [](const C& c) { return c.runner_up.empty() ? std::nullopt : std::optional(c.runner_up_by); }}}};
  return object;
}

// foretrain.strategies/1: the whole report.
template <>
const OutputObject<StrategyMatrix>& output_object<StrategyMatrix>() {
  using M = StrategyMatrix;
  static const OutputObject<M> object{
      "Strategies", "The best strategy of many jobs",
      schema_of_report<M>("strategies") +
          OutputFields<M>{
              {"gpus", "number of GPUs", &M::gpus},
              {"strategies", "those that were compared", &M::strategies},
              {"choices", "network after network, within it cluster after cluster", &M::choices}}};
  return object;
}

std::string write_matrix_json(const StrategyMatrix& m) { return json_text(declared_json(m)); }

// There is one line for each pair of model and cluster.
std::string write_matrix_csv(const StrategyMatrix& m) {
  static const std::vector<CsvColumn> columns{
      {"gpus", "../gpus"}, {"model"},       {"cluster"}, {"best"},
      {"others_as_fast"},  {"step_s"},      {"speedup"}, {"fits", "", CsvFlags::as_digits},
      {"runner_up"},       {"runner_up_by"}};
  return csv_table(columns, declared_json(m), "choices");
}

}  // namespace foretrain

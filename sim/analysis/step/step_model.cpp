// The table of step models has four rows. The functions of a row are defined where their subject is; only
// short words are lambdas here. The rows "uncut" and "program" are copies of "cut" and "replicated" with some
// functions replaced, so they share everything that they do not replace.
#include "sim/analysis/step/step_model.hpp"

#include <array>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/crossover_of_job.hpp"
#include "sim/analysis/step/cut_step.hpp"
#include "sim/analysis/step/program_step.hpp"
#include "sim/analysis/step/replicated_step.hpp"
#include "sim/analysis/step/uncut_step.hpp"
#include "sim/base/names.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/uncut_layout.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

namespace {

/// Index of each model in the table.
enum class ModelRow : std::size_t { replicated, cut, uncut, program };

/// Makes the row of a layout that cuts nothing: questions about several steps are those of a layout, steps
/// and memory are those of a strategy.
StepModel uncut_row(StepModel cut) {
  cut.name = "uncut";
  cut.simulate = UncutStep::simulate;
  cut.evaluate = UncutStep::evaluate;
  cut.record = UncutStep::record;
  cut.why_no_ranks = {};
  cut.lower_limit = UncutStep::lower_limit;
  cut.add_memory = UncutStep::add_memory;
  cut.memory_advice = UncutStep::memory_advice;
  cut.other_account = "copies of gradients and buffers";
  return cut;
}

/// Makes the row of a recorded program. A recording is one program: it has its own batch, no other
/// strategies, and sizes that are functions of the number of ranks.
StepModel program_row(StepModel replicated) {
  replicated.name = "program";
  replicated.simulate = ProgramStep::simulate;
  replicated.evaluate = ProgramStep::evaluate;
  replicated.batch_per_gpu = [](const StepSimulator& s, int) { return s.scenario().workload.batch_per_gpu; };
  replicated.lower_limit = [](const StepSimulator&, int, const DeviceModel&) { return StepLimit{}; };
  replicated.has_smaller_last_step = false;
  replicated.add_memory = ProgramStep::add_memory;
  replicated.memory_advice = ProgramStep::memory_advice;
  replicated.may_be_answer = ProgramStep::may_be_answer;
  replicated.label = [](const Scenario& s) {
    return s.program->first().framework.empty() ? std::string("program") : s.program->first().framework;
  };
  replicated.baseline = "one GPU's share of the fewest that it was recorded on";
  replicated.is_strategy = false;
  replicated.has_measured_runs = false;
  replicated.read_compared = [](const SourceText&, const ScenarioOverrides&,
                                const std::vector<std::string>& strategies, Scenario own, OpenedCatalogs&) {
    if (!strategies.empty())
      throw InputError(
          "A recorded program has no other strategies",
          "record it with another one, and name both scenarios: foretrain compare A.toml B.toml");
    ComparedScenarios out;
    out.strategies = {own};
    out.own = std::move(own);
    return out;
  };
  replicated.weighed_beside = [](const Scenario&) { return std::vector<std::string>(); };
  return replicated;
}

/// Builds all rows; [parallel] and programs derive theirs from the first two.
std::array<StepModel, 4> made_rows() {
  std::array<StepModel, 4> rows{{
      {.name = "replicated",
       .simulate = ReplicatedStep::simulate,
       .evaluate = ReplicatedStep::evaluate,
       .record = ReplicatedStep::record,
       .why_no_ranks = {},
       .batch_per_gpu = ReplicatedStep::batch_per_gpu,
       .lower_limit = ReplicatedStep::lower_limit,
       .has_smaller_last_step = true,
       .add_memory = ReplicatedStep::add_memory,
       .memory_advice = ReplicatedStep::memory_advice,
       .why_not = why_not_together,
       .may_be_answer = may_be_answer,
       .label = [](const Scenario& scenario) { return scenario.strategy; },
       .framework = [](const Scenario& s) { return std::string_view(name_of(s.workload.framework.kind)); },
       .baseline = "the plain loop on one GPU",
       .is_strategy = true,
       .other_account = "copies of gradients and buffers",
       .has_measured_runs = true,
       .is_layout = false,
       .read_compared = read_compared_strategies,
       .weighed_beside = other_strategies,
       .recommend = recommend_strategies},
      {.name = "cut",
       .simulate = CutStep::simulate,
       .evaluate = CutStep::evaluate,
       .record = CutStep::record,
       .why_no_ranks = "the stages of [parallel] are recorded, not single ranks",
       .batch_per_gpu = [](const StepSimulator& s, int) { return layout_of(s.scenario()).micro_batch; },
       .lower_limit = [](const StepSimulator&, int, const DeviceModel&) { return StepLimit{}; },
       .has_smaller_last_step = false,
       .add_memory = CutStep::add_memory,
       .memory_advice = [](const PredictionPoint& point, const Scenario&,
                           const StrategyMemory&) { return "most is " + point.large->largest_memory; },
       .why_not = CutStep::why_not,
       .may_be_answer = [](const Scenario& s, int gpus) { return runs_on(layout_of(s), gpus); },
       .label = [](const Scenario&) { return std::string("[parallel]"); },
       .framework = [](const Scenario& s) { return layout_of(s).kernels().name; },
       .baseline = "one GPU's share of the fewest that can run the scenario as it stands",
       .is_strategy = false,
       .other_account = "the pipeline's bubble",
       .has_measured_runs = false,
       .is_layout = true,
       .read_compared = read_compared_layouts,
       .weighed_beside = [](const Scenario&) { return std::vector<std::string>(); },
       .recommend = recommend_layouts},
      {},
      {},
  }};
  rows[2] = uncut_row(rows[1]);
  rows[3] = program_row(rows[0]);
  return rows;
}

const std::array<StepModel, 4>& model_rows() {
  static const std::array<StepModel, 4> kRows = made_rows();
  return kRows;
}

/// Chooses the row: a recorded program, then [parallel] by whether it cuts the network, then replicated
/// ranks.
ModelRow row_of(const Scenario& scenario) {
  if (scenario.program) return ModelRow::program;
  if (!scenario.parallel) return ModelRow::replicated;
  return runs_as_strategy(*scenario.parallel) ? ModelRow::uncut : ModelRow::cut;
}

}  // namespace

const StepModel& step_model_of(const Scenario& scenario) {
  return model_rows()[static_cast<std::size_t>(row_of(scenario))];
}

std::span<const StepModel> step_models() { return model_rows(); }

}  // namespace foretrain

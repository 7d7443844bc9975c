// measured add: value → [measured] of the scenario → simulated step → row of the user's store.
#include "sim/app/evidence/measured_step.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"

namespace foretrain {

namespace {

constexpr const char* kSpelling = "samples per second of all GPUs as in 326/s, or a step's time as in 98ms";

/// "measured.samples_per_s=326" of "326/s", "measured.step="98 ms"" of "98ms".
std::string setting_of(const std::string& value) {
  if (value.ends_with("/s")) {
    double rate = 0;
    const char* const end = value.data() + value.size() - 2;
    const auto [rest, problem] = std::from_chars(value.data(), end, rate);
    if (problem != std::errc{} || rest != end || !(rate > 0))
      throw InputError(fmt::format("{} is no rate", shortened(value, 40)), kSpelling);
    return fmt::format("measured.samples_per_s={}", rate);
  }
  if (const ParsedQuantity time = parse_quantity(value, Dimension::time, kDurationRange); !time)
    throw InputError(fmt::format("{} is no measured step: {}", shortened(value, 40), time.error), kSpelling);
  return fmt::format("measured.step=\"{}\"", value);
}

/// Another GPU explains a larger difference as often as an error of the prediction does.
constexpr double kDoubtfulQuotient = 2;

/// Asks whether a step of another length than predicted is of this machine; empty where it is near enough.
std::string doubtful_sentence(const Observation& row) {
  const bool is_longer = row.measured > row.predicted;
  const double quotient = is_longer ? row.measured / row.predicted : row.predicted / row.measured;
  if (quotient < kDoubtfulQuotient) return "";
  return fmt::format(
      "Warning: The measured step is {:.2g} times {} than predicted.\n"
      "  hint: Was it measured on {} GPUs of {}, with {} and batch {:g}? If not, remove it: foretrain "
      "evidence "
      "remove.\n",
      quotient, is_longer ? "longer" : "shorter", printable(row.gpu), printable(row.cluster),
      printable(row.precision), row.size);
}

/// Each value that is added is a run of its own.
std::string next_run(const EvidenceStore& store) {
  for (std::size_t number = 1;; ++number) {
    std::string run = fmt::format("measured {}", number);
    if (std::ranges::find(store.rows, run, &Observation::run) == store.rows.end()) return run;
  }
}

}  // namespace

JobInput own_input(const OpenedScenario& opened, const ScenarioOverrides& overrides) {
  JobInput input{kOwnSource, "", overrides.gpus.front()};
  input.scenario.text = scenario_file_of(opened.source, overrides);
  const bool names_files = input.scenario.text.find('/') != std::string::npos ||
                           input.scenario.text.find(".toml") != std::string::npos;
  input.scenario.name =
      names_files && !opened.source.name.empty()
          ? std::filesystem::absolute(opened.source.name).parent_path().string() + "/scenario.toml"
          : "scenario.toml";
  return input;
}

Observation measured_step_row(Scenario scenario) {
  if (!scenario.anchor) throw InputError("its scenario has no [measured]");
  const Anchor measured = *std::exchange(scenario.anchor, std::nullopt);
  if (!has_evidence(scenario))
    throw InputError("large models of [parallel] and mixed nodes have no evidence yet");
  scenario.gpus = {measured.gpus};
  const PredictionPoint point = predict(scenario).points.front();
  Observation row = step_question(scenario, point.batch_per_gpu);
  row.what = measured.gpus > 1 ? Observed::job : Observed::step;
  row.gpus = measured.gpus, row.nodes = point.nodes;
  row.measured = measured.step_s, row.predicted = point.step_s;
  if (const double quotient = row.measured / row.predicted;
      !(quotient < kLargestQuotient && quotient > 1 / kLargestQuotient))
    throw InputError(fmt::format("a step of {} was measured, expected are about {}",
                                 to_string(seconds(row.measured)), to_string(seconds(row.predicted))),
                     "is the unit wrong?");
  return row;
}

std::string kept_sentence(const std::string& store, const Observation& row) {
  return fmt::format("Kept in {}: {} batch {:g} on {} of {}, {} a step where {} are predicted.\n",
                     printable(store), printable(row.model), row.size, counted(row.gpus, "GPU"),
                     printable(row.cluster), to_string(seconds(row.measured)),
                     to_string(seconds(row.predicted))) +
         doubtful_sentence(row);
}

void run_measured_add(const MeasuredCommand& command) {
  ScenarioOverrides overrides = command.overrides;
  if (overrides.gpus.size() != 1)
    throw InputError("on how many GPUs was it measured?", "one number, as in --gpus 1");
  overrides.settings.push_back(setting_of(command.value));
  overrides.settings.push_back(fmt::format("measured.gpus={}", overrides.gpus.front()));
  std::vector<std::string> names;
  if (!command.scenario.empty()) names.push_back(command.scenario);
  const OpenedScenario opened =
      std::move(open_scenarios(names, overrides, AskedScaling::of_scenario).front());
  Observation row = measured_step_row(opened.scenario);
  row.source = kOwnSource, row.version = FORETRAIN_VERSION;
  JobInput input = own_input(opened, overrides);
  const std::string file = named_store(command.store);
  change_store(file, [&](EvidenceStore& store) {
    row.run = input.run = next_run(store);
    store.rows.push_back(row);
    store.inputs.push_back(input_of(input));
  });
  write_output("", kept_sentence(file, row));
}

}  // namespace foretrain

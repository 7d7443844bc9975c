// The command that records a measured step. A value, or the rate that a pasted log states, becomes [measured]
// of the scenario. The step is then simulated, and both times are added to the user's store as one row.
//
// `foretrain measured add 326/s SCENARIO --gpus 4` prints which row was stored and where. A value that is no
// rate or time, or that is off by a unit, ends it with exit code 1 and leaves the store as it was.
#include "sim/app/evidence/measured_step.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/imported_cluster.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/import/logs/log_hints.hpp"
#include "sim/import/logs/training_rate.hpp"
#include "sim/import/pasted/pasted_rate.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"

namespace foretrain {

namespace {

// Hint of messages about a value that is not understood.
constexpr const char* kSpelling =
    "samples per second of all GPUs as in 326/s, a step's time as in 98ms, a line of a log, or a file of "
    "them";

/// Returns the log that VALUE stands for: the content of a file, standard input for "-", or VALUE itself when
/// it is a line of a log. Returns nothing for a plain value such as "326/s" or "98ms".
std::optional<SourceText> log_text_of(const std::string& value) {
  std::error_code unknown;
  if (value == "-" || std::filesystem::is_regular_file(value, unknown)) return read_machine_text(value);
  if (value.ends_with("/s") && value.find_first_not_of("0123456789.e+-") == value.size() - 2)
    return std::nullopt;
  bool stands = false;
  if (training_rate_in(value, stands)) return SourceText{"the value", value};
  return std::nullopt;
}

/// Throws InputError that points at a line of the log; line 0: at the log as a whole.
[[noreturn]] void refuse_text(const SourceText& text, int line, std::string why, std::string hint) {
  throw InputError({{text.name, {line, line > 0 ? 1 : 0, 1}, "", std::move(why), std::move(hint)}});
}

/// Returns the setting that a log states, for instance measured.step="116.3 ms" for 8.6 it/s. Throws
/// InputError when the log is of another number of GPUs, has no rate, or has tokens without a length of
/// samples.
std::string setting_of_log(const SourceText& text, const MeasuredCommand& command) {
  const int gpus = command.overrides.gpus.front();
  if (const int said = stated_job_size(text.text, {}).gpus; said > 0 && said != gpus)
    refuse_text(text, 0, fmt::format("its text says {}, and --gpus says {}", counted(said, "GPU"), gpus),
                "give the number of GPUs that the log is of");
  const std::optional<PastedRate> rate = pasted_rate(text.text, gpus);
  if (!rate)
    refuse_text(text, 0, "no line of it has a rate", "as in 9.8it/s, 1.2s/it, 326 images/sec, 98 ms/step");
  // The note tells the user which line was taken and how it was read.
  write_message(fmt::format("note: {}: {}\n", printable(text.name), in_words(*rate)));
  if (rate->of == PastedRate::Of::steps) return fmt::format("measured.step=\"{} us\"", 1e6 / rate->per_s);
  if (rate->of == PastedRate::Of::samples) return fmt::format("measured.samples_per_s={}", rate->per_s);
  if (command.tokens_per_sample == 0)
    refuse_text(text, rate->line, "tokens for each second: how many make a sample is not said",
                "give --sequence N, as in --sequence 2048");
  return fmt::format("measured.samples_per_s={}",
                     rate->per_s / static_cast<double>(command.tokens_per_sample));
}

/// Returns the setting that VALUE states: measured.samples_per_s=326 for "326/s", measured.step="98 ms" for
/// "98ms".
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

// A user should check the machine from this quotient on: a wrong GPU explains such a difference as often as
// an error of the prediction.
constexpr double kDoubtfulQuotient = 2;

/// Returns a warning that asks whether the step was measured on this machine; empty when measured and
/// predicted time differ by less than the factor kDoubtfulQuotient.
std::string suspect_sentence(const Observation& row) {
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

/// Returns a name for the new row's run that is free in the store: every added value is a run of its own.
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
  // A scenario that names files is stored under its own folder, so that relative names can be found again.
  const bool names_files = input.scenario.text.find('/') != std::string::npos ||
                           input.scenario.text.find(".toml") != std::string::npos;
  input.scenario.name =
      names_files && !opened.source.name.empty()
          ? std::filesystem::absolute(opened.source.name).parent_path().string() + "/scenario.toml"
          : "scenario.toml";
  return input;
}

// The row has the question of a step (network, GPU, batch, precision …) and both times.
Observation measured_step_row(Scenario scenario) {
  if (!scenario.anchor) throw InputError("its scenario has no [measured]");
  // The measurement must not calibrate the prediction that it is compared with.
  const Anchor measured = *std::exchange(scenario.anchor, std::nullopt);
  if (!has_evidence(scenario))
    throw InputError("large models of [parallel] and mixed nodes have no evidence yet");
  scenario.gpus = {measured.gpus};
  const PredictionPoint point = predict(scenario).points.front();
  Observation row = step_question(scenario, point.batch_per_gpu);
  row.what = measured.gpus > 1 ? Observed::job : Observed::step;
  // A quotient this large comes from a wrong unit, such as ms given as s.
  row.gpus = measured.gpus, row.nodes = point.nodes;
  row.measured = measured.step_s, row.predicted = point.step_s;
  if (const double quotient = row.measured / row.predicted;
      !(quotient < kLargestQuotient && quotient > 1 / kLargestQuotient))
    throw InputError(fmt::format("a step of {} was measured, expected are about {}",
                                 to_string(seconds(row.measured)), to_string(seconds(row.predicted))),
                     "is the unit wrong?");
  return row;
}

// The sentence names what was measured and both times, so that the user can notice a wrong unit or machine.
std::string kept_sentence(const std::string& store, const Observation& row) {
  return fmt::format("Kept in {}: {} batch {:g} on {} of {}, {} a step where {} are predicted.\n",
                     printable(store), printable(row.model), row.size, counted(row.gpus, "GPU"),
                     printable(row.cluster), to_string(seconds(row.measured)),
                     to_string(seconds(row.predicted))) +
         suspect_sentence(row);
}

// The value is passed on as a setting, so that its unit is checked by the reader of scenarios.
void run_measured_add(const MeasuredCommand& command) {
  ScenarioOverrides overrides = command.overrides;
  if (overrides.gpus.size() != 1)
    throw InputError("on how many GPUs was it measured?", "one number, as in --gpus 1");
  const std::optional<SourceText> log = log_text_of(command.value);
  overrides.settings.push_back(log ? setting_of_log(*log, command) : setting_of(command.value));
  overrides.settings.push_back(fmt::format("measured.gpus={}", overrides.gpus.front()));
  std::vector<std::string> names;
  if (!command.scenario.empty()) names.push_back(command.scenario);
  const OpenedScenario opened =
      std::move(open_scenarios(names, overrides, RequestedScaling::of_scenario).front());
  Observation row = measured_step_row(opened.scenario);
  row.source = kOwnSource, row.version = FORETRAIN_VERSION;
  JobInput input = own_input(opened, overrides);
  const std::string file = named_store(command.store);
  // The name of the run is chosen under the store's lock, so that two commands at once take different names.
  change_store(file, [&](EvidenceStore& store) {
    row.run = input.run = next_run(store);
    store.rows.push_back(row);
    store.inputs.push_back(input_of(input));
  });
  write_output("", kept_sentence(file, row));
}

}  // namespace foretrain

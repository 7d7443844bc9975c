// measured add: value, or the rate that a pasted log says → [measured] of the scenario → simulated step → row
// of the user's store.
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

constexpr const char* kSpelling =
    "samples per second of all GPUs as in 326/s, a step's time as in 98ms, a line of a log, or a file of "
    "them";

/// The text behind VALUE: a file's, standard input, or a line of a log itself; nothing for "326/s" and
/// "98ms".
std::optional<SourceText> log_text_of(const std::string& value) {
  std::error_code unknown;
  if (value == "-" || std::filesystem::is_regular_file(value, unknown)) return read_machine_text(value);
  if (value.ends_with("/s") && value.find_first_not_of("0123456789.e+-") == value.size() - 2)
    return std::nullopt;
  bool stands = false;
  if (training_rate_in(value, stands)) return SourceText{"the value", value};
  return std::nullopt;
}

[[noreturn]] void refuse_text(const SourceText& text, int line, std::string why, std::string hint) {
  throw InputError({{text.name, {line, line > 0 ? 1 : 0, 1}, "", std::move(why), std::move(hint)}});
}

/// "measured.step="116.3 ms"" of a log with 8.6 it/s.
std::string setting_of_log(const SourceText& text, const MeasuredCommand& command) {
  const int gpus = command.overrides.gpus.front();
  if (const int said = stated_job_size(text.text, {}).gpus; said > 0 && said != gpus)
    refuse_text(text, 0, fmt::format("its text says {}, and --gpus says {}", counted(said, "GPU"), gpus),
                "give the number of GPUs that the log is of");
  const std::optional<PastedRate> rate = pasted_rate(text.text, gpus);
  if (!rate)
    refuse_text(text, 0, "no line of it has a rate", "as in 9.8it/s, 1.2s/it, 326 images/sec, 98 ms/step");
  write_message(fmt::format("note: {}: {}\n", printable(text.name), in_words(*rate)));
  if (rate->of == PastedRate::Of::steps) return fmt::format("measured.step=\"{} us\"", 1e6 / rate->per_s);
  if (rate->of == PastedRate::Of::samples) return fmt::format("measured.samples_per_s={}", rate->per_s);
  if (command.tokens_per_sample == 0)
    refuse_text(text, rate->line, "tokens for each second: how many make a sample is not said",
                "give --sequence N, as in --sequence 2048");
  return fmt::format("measured.samples_per_s={}",
                     rate->per_s / static_cast<double>(command.tokens_per_sample));
}

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
         suspect_sentence(row);
}

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
  change_store(file, [&](EvidenceStore& store) {
    row.run = input.run = next_run(store);
    store.rows.push_back(row);
    store.inputs.push_back(input_of(input));
  });
  write_output("", kept_sentence(file, row));
}

}  // namespace foretrain

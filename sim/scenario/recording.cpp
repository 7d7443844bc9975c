// Warnings about recordings. A recording is exact for the run that was recorded; each warning names an
// extrapolation.
#include "sim/scenario/recording.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

namespace {

/// Names or notes that a warning lists.
constexpr std::size_t kMostNamed = 5;

/// Returns the first few names, and the number of the others.
std::string some_of(std::vector<std::string> names) {
  const std::size_t all = names.size();
  names.resize(std::min(all, kMostNamed));
  return fmt::format("{}{}", fmt::join(names, ", "),
                     all > kMostNamed ? fmt::format(" and {} more", all - kMostNamed) : "");
}

/// Adds warnings on guesses and omissions of the program's recorder.
void warn_of_program(const Program& program, std::vector<std::string>& warnings) {
  for (const std::vector<std::string>* sentences : {&program.guesses, &program.notes}) {
    const std::size_t shown = std::min(sentences->size(), kMostNamed);
    for (std::size_t i = 0; i < shown; ++i) {
      std::string_view sentence = (*sentences)[i];
      if (sentence.ends_with('.')) sentence.remove_suffix(1);
      warnings.emplace_back(sentence);
    }
    if (sentences->size() > shown)
      warnings.push_back(
          fmt::format("{}: its file has {} more such notes", program.name, sentences->size() - shown));
  }
  if (program.batch == 0)
    warnings.push_back(
        fmt::format("{}: the recording does not say how many samples a step trains; 1 is taken for each rank",
                    program.name));
}

/// Returns whether any batch of the scenario differs from the recorded one.
bool trains_other_batch(const Scenario& scenario, std::int64_t recorded) {
  const auto differs = [recorded](std::int64_t batch) { return batch != recorded; };
  return scenario.global_batch || differs(scenario.workload.batch_per_gpu) ||
         std::any_of(scenario.batch_of_kind.begin(), scenario.batch_of_kind.end(), differs);
}

/// Adds warnings on sizes that are known at one batch only.
void warn_of_batch(const Scenario& scenario, const Recording& recording, std::vector<std::string>& warnings) {
  if (!trains_other_batch(scenario, recording.batch)) return;
  const std::string& name = scenario.model.name;
  if (!recording.grows)
    warnings.push_back(
        fmt::format("{} was recorded at a batch of {} alone: which sizes grow with the batch is "
                    "guessed from them, so other batches are less certain; record it at two",
                    name, recording.batch));
  if (!recording.beyond_linear.empty())
    warnings.push_back(
        fmt::format("{}: {} grow faster than the batch: exact at the recorded batch of {}, taken in "
                    "proportion elsewhere",
                    name, some_of(recording.beyond_linear), recording.batch));
}

}  // namespace

double share_without_formula(const Recording& recording, double batch) {
  const double all = recording.bytes.at(batch);
  return all > 0 ? recording.unknown_bytes.at(batch) / all : 0;
}

std::vector<std::string> recording_warnings(const Scenario& scenario) {
  std::vector<std::string> warnings;
  if (!scenario.workload.model || !scenario.workload.model->recording) return warnings;
  const Recording& recording = *scenario.workload.model->recording;
  const std::string& name = scenario.model.name;
  if (scenario.program)
    warn_of_program(scenario.program->first(), warnings);
  else
    warn_of_batch(scenario, recording, warnings);
  const double share = share_without_formula(recording, static_cast<double>(scenario.workload.batch_per_gpu));
  if (share > kMuchWithoutFormula)
    warnings.push_back(
        fmt::format("{}: {} % of the bytes are moved by operators without a formula, whose "
                    "arithmetic is not counted: {}",
                    name, percent(share, 1), some_of(recording.unknown)));
  if (recording.without_gradient > 0 && !scenario.program)
    warnings.push_back(
        fmt::format("{}: {} without a gradient that are not frozen are taken as ready when backward "
                    "begins, as DDP does with find_unused_parameters",
                    name, counted(recording.without_gradient, "parameter")));
  return warnings;
}

}  // namespace foretrain

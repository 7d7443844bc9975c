// The command export: plans and simulates a scenario once, and writes its steps for other simulators: Chakra
// files for ASTRA-sim or a GOAL file for LogGOPSim.
//
// `foretrain export goal SCENARIO --gpus 8 -o steps.goal` writes one file; `export chakra` writes one for
// each rank (report/simulators). Strategies that drive several GPUs from one process are refused with exit
// code 1.
#include <fmt/format.h>

#include "sim/analysis/predict.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/simulators/chakra.hpp"
#include "sim/report/simulators/goal.hpp"

namespace foretrain {

namespace {

/// Writes PREFIX.RANK.et for each rank, and PREFIX.groups.json when ranks communicate in groups.
void write_chakra_files(const ExportedSteps& steps, const std::string& prefix) {
  for (int rank = 0; rank < steps.ranks(); ++rank)
    write_whole_file(fmt::format("{}.{}.et", prefix, rank), write_chakra(steps, rank));
  const std::string groups = write_chakra_groups(steps);
  if (!groups.empty()) write_file(prefix + ".groups.json", groups);
}

/// Returns a summary for the terminal: what was written, and what these formats cannot hold.
std::string summary(const ExportCommand& command, const ExportedSteps& steps, double seconds_of_step) {
  std::size_t messages = 0;
  for (const ExportedNode& node : steps.nodes) messages += node.message ? 1 : 0;
  std::string out =
      fmt::format("{}: {} of {} on {}, {} tasks each, {} of them collectives\n", printable(command.output),
                  counted(steps.steps, "step"), printable(steps.name), counted(steps.ranks(), "rank"),
                  steps.nodes.size(), messages);
  out += fmt::format("the last step took {} here\n", to_string(seconds(seconds_of_step)));
  if (steps.short_lags > 0)
    out += fmt::format("left out: {} latencies of launches and wake-ups, of {} at most\n", steps.short_lags,
                       to_string(kShortLag));
  if (steps.waits > 0 && command.format == "chakra")
    out += fmt::format("left out: {} longer waits, as for the next cycle of a thread; goal has them\n",
                       steps.waits);
  return out;
}

}  // namespace

// Writes the files and prints a summary to standard output. More ranks than --ranks are wrong input (exit
// code 1).
void run_export(const ExportCommand& command) {
  const OpenedScenario opened =
      std::move(open_scenarios(command.scenarios, command.overrides, RequestedScaling::of_scenario).front());
  if (command.output == "-")
    throw InputError("an export goes into files, not to standard output", "as in -o steps.goal");
  // Chakra has a file for each rank; the first stands for all of them.
  check_outputs({{"-o", command.format == "goal" ? command.output : command.output + ".0.et"}});
  const int gpus = opened.scenario.gpus.back();
  if (gpus > command.most_ranks)
    throw InputError(fmt::format("{} ranks are more than {}", gpus, command.most_ranks),
                     "--gpus takes fewer; --ranks allows more");
  // One run records the steps; the two formats are written from the same tasks.
  const RecordedSteps recorded = std::move(record_steps(opened.scenario, {}).front().steps);
  const ExportedSteps steps = exported_steps(recorded, opened.scenario);
  if (command.format == "goal")
    write_file(command.output, write_goal(steps));
  else
    write_chakra_files(steps, command.output);
  // The last step is reported, since earlier ones include the start of the pipeline of batches.
  const std::vector<TaskId>& ends = recorded.plan.step_ends;
  const Time before = ends.size() > 1 ? recorded.timeline.end_of(ends[ends.size() - 2]) : Time{};
  write_output("", summary(command, steps, to_seconds(recorded.timeline.end_of(ends.back()) - before)));
}

}  // namespace foretrain

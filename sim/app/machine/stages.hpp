// The stages of `calibrate machine`: what each does, its share of the time, and the files it leaves.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/validation/validation.hpp"
#include "sim/app/commands.hpp"

namespace foretrain {

/// The state of a stage of `calibrate machine`.
enum class StageState {
  done,
  /// It was ended at its time limit; what it wrote counts.
  time_over,
  /// Something that it needs is missing.
  skipped,
  /// It has what it needs, but did not work.
  failed,
  /// A signal ended it.
  interrupted
};
/// Names of the states, in the order of the enum, as progress.toml has them.
inline constexpr std::string_view kStageStateNames[] = {"done", "time over", "skipped", "failed",
                                                        "interrupted"};

/// The end of a stage.
struct StageEnd {
  StageState state = StageState::done;
  /// Sentences for the user; empty when there is nothing to say.
  std::string said;
};

/// A finished stage with its duration: a row of progress.toml.
struct FinishedStage {
  std::string name;
  StageEnd end;
  double seconds = 0;
};

struct MachineFit;  // machine_fit.hpp

/// State that the stages of a run share. The run's folder is the working folder, and file names are relative
/// to it.
struct MachineRun {
  using Clock = std::chrono::steady_clock;

  /// Version of foretrain that began the run; empty where progress.toml does not say.
  std::string version;
  /// Seconds for all stages together.
  double budget_s = 0;
  std::string device;  ///< "cuda" or "cpu"
  /// Networks that are trained; empty: those that the measuring program chooses.
  std::vector<std::string> networks;
  /// Absolute paths: the folder of the results, and the folder in which the command was given.
  std::string folder, start_folder;
  /// True when nothing is run; then the stages' needs are checked more closely.
  bool is_dry = false;
  std::vector<FinishedStage> finished;
  /// Seconds that the running stage may take.
  double limit_s = 0;
  Clock::time_point stage_begin{};

  /// Returns the moment at which the running stage must end.
  Clock::time_point stage_end() const {
    return stage_begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  }
  /// Returns the result of the stage; nullptr: it has not run.
  const FinishedStage* find(std::string_view stage) const;
  /// Returns true when the stage is done, or was ended at its time limit.
  bool has_finished(std::string_view stage) const;
  /// Result of the fit stage, which the report needs; nullptr: made by another process.
  std::shared_ptr<MachineFit> fitted{};
};

/// A stage. Adding a stage means adding a row to the table.
struct StageRow {
  std::string_view name, what;
  /// Program that it needs, in words; empty: none.
  std::string_view needs{};
  /// Fraction of the budget.
  double share = 0;
  /// Seconds below which it gives no result.
  double least_s = 0;
  /// Seconds that it may take from later stages' time when its share is less.
  double patience_s = 0;
  /// True when it uses what earlier stages wrote: it runs again when one of them does.
  bool follows = false;
  /// Files that it writes.
  std::vector<std::string_view> outputs;
  /// Returns a sentence on what is missing; empty when the stage can run.
  std::string (*missing)(const MachineRun& run);
  /// Runs the stage.
  StageEnd (*run)(MachineRun& run);
};
/// Returns all stages in the order in which they run.
const std::vector<StageRow>& machine_stages();

/// Returns the names as "detect, bench, …".
std::string joined_stage_names();

// The functions of the rows; each is in the file that bears its name.

/// Each runs its stage within run.limit_s, writes the stage's files and returns how it ended.
StageEnd run_detect_stage(MachineRun& run);
StageEnd run_bench_stage(MachineRun& run);
StageEnd run_steps_stage(MachineRun& run);
StageEnd run_capture_stage(MachineRun& run);
StageEnd run_fit_stage(MachineRun& run);
StageEnd run_report_stage(MachineRun& run);

/// Return a sentence when foretrain-bench, or Python (in a dry run with PyTorch), is missing.
std::string missing_bench(const MachineRun& run);
std::string missing_python(const MachineRun& run);

/// Returns a progress for work in this process. It throws StageTimeOver when the stage's time is over, and
/// StageInterrupted when a signal has come.
Progress stage_progress(const MachineRun& run, const std::string& what);

/// Thrown when a stage has used its time.
struct StageTimeOver {};

/// Thrown when the user interrupts a stage.
struct StageInterrupted {};

}  // namespace foretrain

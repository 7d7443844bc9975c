// The stages of `calibrate machine`: what each does, its share of the time, and what it leaves on disk.
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
  time_over,   ///< ended at its time; what it wrote counts
  skipped,     ///< what it needs is not there
  failed,      ///< what it needs is there, and it did not work
  interrupted  ///< a signal came
};
inline constexpr std::string_view kStageStateNames[] = {"done", "time over", "skipped", "failed",
                                                        "interrupted"};

/// How a stage ended.
struct StageEnd {
  StageState state = StageState::done;
  std::string said;  ///< sentences
};

/// The same with the name of the stage and the seconds it took: a row of progress.toml.
struct FinishedStage {
  std::string name;
  StageEnd end;
  double seconds = 0;
};

struct MachineFit;  // machine_fit.hpp

/// What the stages of a run share. The working folder is the run's: every file is named relative to it.
struct MachineRun {
  using Clock = std::chrono::steady_clock;

  double budget_s = 0;
  std::string device;  ///< "cuda" or "cpu"
  std::vector<std::string> networks;
  std::string folder, start_folder;  ///< absolute: of the results, and where the command was given
  bool is_dry = false;               ///< nothing is run: what is missing is looked for all the more
  std::vector<FinishedStage> finished;
  double limit_s = 0;  ///< of the stage that runs
  Clock::time_point stage_begin{};

  Clock::time_point stage_end() const {
    return stage_begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  }
  const FinishedStage* find(std::string_view stage) const;
  /// Whether it is done, or ended at its time.
  bool has_finished(std::string_view stage) const;
  std::shared_ptr<MachineFit> fitted{};  ///< of the fit stage, for the report
};

/// A stage is a row: adding one is adding a row.
struct StageRow {
  std::string_view name, what;
  std::string_view needs{};  ///< a program; empty: none
  double share = 0;          ///< of the budget
  double least_s = 0;        ///< below which it gives nothing
  double patience_s = 0;     ///< where its share is less, it may take so much of later stages' time
  bool follows = false;      ///< is made of what earlier stages wrote: runs again when one of them does
  std::vector<std::string_view> outputs;
  /// A sentence on what is not there; empty where all is.
  std::string (*missing)(const MachineRun& run);
  StageEnd (*run)(MachineRun& run);
};
/// In their order.
const std::vector<StageRow>& machine_stages();

/// "detect, bench, …".
std::string joined_stage_names();

// The functions of the rows, each in the file of its name.

StageEnd run_detect_stage(MachineRun& run);
StageEnd run_bench_stage(MachineRun& run);
StageEnd run_steps_stage(MachineRun& run);
StageEnd run_capture_stage(MachineRun& run);
StageEnd run_fit_stage(MachineRun& run);
StageEnd run_report_stage(MachineRun& run);

std::string missing_bench(const MachineRun& run);
std::string missing_python(const MachineRun& run);

/// Progress of work in this process. Throws StageTimeOver behind the end of the stage, and StageInterrupted
/// when a signal has come.
Progress stage_progress(const MachineRun& run, const std::string& what);

/// Thrown when a stage has used its time.
struct StageTimeOver {};

/// Thrown when the user interrupts a stage.
struct StageInterrupted {};

}  // namespace foretrain

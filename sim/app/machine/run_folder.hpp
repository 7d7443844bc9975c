// The folder of a run of `calibrate machine`: its state, its lock and its progress file.
#pragma once

#include <optional>
#include <string>

#include "sim/app/machine/stages.hpp"

namespace foretrain {

/// File that lists the finished stages of a run.
inline constexpr const char* kProgressFile = "progress.toml";

/// Makes a folder the working folder, and this process the only one that works in it, for the object's life.
/// Relative folders of FORETRAIN_PATH become absolute.
class RunFolder {
 public:
  /// Creates the folder when it is missing. Throws InputError for a file, for a folder that holds other
  /// things or that another process works in, and when `resume` does not match whether the folder holds a
  /// run. Throws EnvironmentError when the folder cannot be made.
  RunFolder(const std::string& folder, bool resume);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Absolute path of the run's folder.
  const std::string& path() const { return path_; }
  /// Absolute path of the folder in which the command was given.
  const std::string& start() const { return start_; }
  bool holds_run() const { return holds_run_; }

 private:
  std::string path_, start_;
  /// File descriptor of the locked folder.
  int lock_ = -1;
  bool holds_run_ = false;
};

/// States whether a folder holds a run, and why a run may not begin in it; an empty `mistake` means that it
/// may.
struct FolderState {
  bool holds_run = false;
  std::string mistake, hint;
};
/// Looks at the folder and creates nothing.
FolderState state_of_folder(const std::string& folder, bool resume);

/// Reads progress.toml of the working folder. Throws InputError when it is damaged.
MachineRun read_progress();
/// Replaces progress.toml of the working folder.
void write_progress(const MachineRun& run);

}  // namespace foretrain

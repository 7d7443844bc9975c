// The folder of a run of `calibrate machine`: whose it is, what is done in it, and who works in it.
#pragma once

#include <optional>
#include <string>

#include "sim/app/machine/stages.hpp"

namespace foretrain {

inline constexpr const char* kProgressFile = "progress.toml";

/// Makes the folder the working folder, and this process the only one that works in it, until the object
/// goes. Relative folders of FORETRAIN_PATH become absolute.
class RunFolder {
 public:
  /// Makes the folder where it is not there. Throws InputError for a file, for a folder that holds other
  /// things or that another process works in, and for a run in it unless `resume`, which needs one.
  RunFolder(const std::string& folder, bool resume);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  const std::string& start() const { return start_; }
  bool holds_run() const { return holds_run_; }

 private:
  std::string path_, start_;
  int lock_ = -1;
  bool holds_run_ = false;
};

/// Whether the folder holds a run, and why a run may not begin there as that; empty where it may. Nothing is
/// made.
struct FolderState {
  bool holds_run = false;
  std::string mistake, hint;
};
FolderState state_of_folder(const std::string& folder, bool resume);

/// Reads progress.toml of the working folder. Throws InputError where it is damaged.
MachineRun read_progress();
void write_progress(const MachineRun& run);

}  // namespace foretrain

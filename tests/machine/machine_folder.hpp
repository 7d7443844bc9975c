// `calibrate machine` in a folder of its own, with a stand-in for Python and, where a test wants it,
// foretrain-bench against the stand-ins of tests/standin.
#pragma once

#include <filesystem>
#include <string>

namespace foretrain::test {

struct MachineOutcome {
  int exit_code = 0;  ///< 128 + signal when a signal ended it
  std::string out;    ///< standard output and standard error
};

/// A folder that is gone with it.
class MachineFolder {
 public:
  MachineFolder();
  ~MachineFolder();
  MachineFolder(const MachineFolder&) = delete;
  MachineFolder& operator=(const MachineFolder&) = delete;

  /// Runs `calibrate machine -o run WORDS`; `environment` as for a shell: "A=1 B=2".
  MachineOutcome run(const std::string& words, const std::string& environment = "") const;
  /// The same of all stages but foretrain-bench's, on an H100 that PyTorch names.
  MachineOutcome run_without_bench(const std::string& words, const std::string& environment = "") const;
  /// Any other command line in the folder.
  MachineOutcome line(const std::string& words) const;

  std::string text_of(const std::string& name) const;  ///< of a file of the run; empty when there is none
  bool has(const std::string& name) const;
  std::filesystem::path path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace foretrain::test

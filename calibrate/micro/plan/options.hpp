// The command line of foretrain-bench.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace foretrain::micro {

/// A mistake on the command line (exit code 2).
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  enum class Action { measure, help, version, list };
  Action action = Action::measure;
  double budget_s = 120;
  std::string output = "samples.csv";
  std::vector<std::string> only;  ///< families; empty: all
  bool host_only = false;
  bool fresh = false;
  bool dry_run = false;  ///< says what would be measured and measures nothing
  bool may_spawn = true;
  std::string points;      ///< a samples CSV: only points that stand in it
  std::string rendezvous;  ///< a folder all ranks see
  friend bool operator==(const Options&, const Options&) = default;
};

/// Throws UsageError.
Options parse_options(const std::vector<std::string>& arguments);

std::string help_text();

}  // namespace foretrain::micro

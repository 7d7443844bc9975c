// Runs a program and returns what it prints.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/csv/measurements.hpp"

namespace foretrain::micro {

struct ChildResult {
  int exit_code = 0;  ///< 128 + signal when one ended it; 124 when it was stopped after `timeout_s`
  std::string output;
};

/// `command` is looked up in PATH; `environment` is added to this process's. Its standard error is
/// `/dev/null`. Throws EnvironmentError when it cannot be started.
ChildResult run_child(const std::vector<std::string>& command, const Settings& environment, double timeout_s);

}  // namespace foretrain::micro

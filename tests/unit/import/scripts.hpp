// Short ways to read a job script in a test.
#pragma once

#include <cstdlib>
#include <string>

#include "sim/import/job_checks.hpp"
#include "sim/import/job_cluster.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain::test {

inline JobScript script_of(const std::string& text, const ScriptFinder& find = nullptr) {
  return read_job_script({"job.sh", text}, find);
}

/// A bash script whose directives are `directives`, one a line, and whose commands follow.
inline JobScript slurm(const std::string& directives, const std::string& commands = "") {
  std::string text = "#!/bin/bash\n";
  std::size_t begin = 0;
  while (begin < directives.size()) {
    const std::size_t end = std::min(directives.find('\n', begin), directives.size());
    text += "#SBATCH " + directives.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return script_of(text + commands);
}

/// "-" for nothing.
inline std::string shown(const Field<int>& field) { return field ? std::to_string(field->value) : "-"; }
inline std::string shown(const Field<std::string>& field) { return field ? field->value : "-"; }

/// "launcher processes-per-node program".
inline std::string launch_of(const JobScript& script) {
  const JobLaunch& launch = script.launch;
  return (launch.started_by ? std::string(name_of(launch.started_by->value)) : "-") + " " +
         shown(launch.processes_per_node) + " " + shown(launch.program);
}

/// Lines and reasons of what was not understood: "3: why; 5: why".
inline std::string open_lines(const JobScript& script) {
  std::string out;
  for (const NotUnderstood& line : script.not_understood)
    out += (out.empty() ? "" : "; ") + std::to_string(line.span.line) + ": " + line.why;
  return out;
}

/// A cluster of the source tree's catalog.
inline ClusterSpec cluster_of(const std::string& name) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  return choose_cluster({}, name);
}

}  // namespace foretrain::test

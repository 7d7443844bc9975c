// Submit files of HTCondor: requests, macros, the executable's launch line.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Whether a text looks like a submit file: commands "key = value" and a queue line or a request, and no
/// table of TOML.
bool is_submit_file(std::string_view text);

/// Reads a submit file into `script`. The executable's script is read through `find` when it lies beside.
void read_submit_file(std::string_view text, const ScriptFinder& find, JobScript& script);

/// The command of a submit file, by its name in lower case.
struct SubmitCommand {
  std::string value;  ///< with macros put in as far as they are known
  std::string written;
  SourceSpan span{};
};
using SubmitCommands = std::map<std::string, SubmitCommand>;

/// All "key = value" lines; queue lines under "queue". Later ones replace earlier ones, macros take the last
/// value, as in HTCondor.
SubmitCommands read_submit_commands(std::string_view text);

}  // namespace foretrain

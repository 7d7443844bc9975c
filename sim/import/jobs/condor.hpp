// Reader of HTCondor's submit files: requests, macros, and the launch line of the executable.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Says whether a text looks like a submit file: it has commands "key = value" and a queue line or a request,
/// and no table of TOML.
bool is_submit_file(std::string_view text);

/// Reads a submit file into `script`. The script of the executable is read if `find` finds it; otherwise the
/// executable and its arguments are read as a command.
void read_submit_file(std::string_view text, const ScriptFinder& find, JobScript& script);

/// A command of a submit file.
struct SubmitCommand {
  /// Value after macros were expanded as far as they are known.
  std::string value;
  /// Value as written, and place of the line.
  std::string written;
  SourceSpan span{};
};
/// Commands by their names in lower case.
using SubmitCommands = std::map<std::string, SubmitCommand>;

/// Reads all lines "key = value"; the queue line stands under "queue". Later lines replace earlier ones, and
/// macros take the last value, as in HTCondor.
/// Lines that end in a backslash go on in the next. "my.NAME" is "+NAME". A line beyond 64 KiB is cut.
SubmitCommands read_submit_commands(std::string_view text);

}  // namespace foretrain

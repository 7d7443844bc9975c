// The catalog of job systems. The order matters where a text could belong to two: directives come before bare
// launch lines, and submit files, which only words tell, come last.
#include "sim/import/jobs/catalog.hpp"

#include <algorithm>
#include <array>

#include "sim/import/launch_reader.hpp"

namespace foretrain {

std::span<const JobSystem> job_systems() {
  // The rows are built once; building a static local is safe from several threads.
  static const std::array<JobSystem, 8> rows{slurm_system(),       pbs_system(),   lsf_system(),
                                             grid_engine_system(), flux_system(),  kubernetes_system(),
                                             launch_line_system(), condor_system()};
  return rows;
}

const JobSystem& job_system(BatchSystem system) {
  return *std::ranges::find_if(job_systems(), [&](const JobSystem& row) { return row.system == system; });
}

void read_script_body(std::string_view text, int first_line, ShellValues& values, const ScriptFinder& find,
                      JobScript& script) {
  // Commands such as `nvidia-smi -L | wc -l` count what the request gives, so its numbers become known
  // values.
  if (script.resources.gpus_per_node) values.gpus_on_node = script.resources.gpus_per_node->value;
  if (script.resources.nodes) values.nodes = script.resources.nodes->value;
  if (script.resources.tasks) values.host_lines = script.resources.tasks->value;
  const std::vector<ShellCommand> commands = read_commands(text, values, first_line);
  // The scanner takes the rest of the text for elements, so no launch can be found behind such an array.
  if (values.open_list.line > 0)
    script.not_understood.push_back({values.open_list, "",
                                     "the parenthesis of this array never closes: all that follows is taken "
                                     "for its elements"});
  read_launch(commands, values, find, script);
}

}  // namespace foretrain

// The command topology diff: prints the differences of two clusters in words.
#include "sim/app/commands.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/topology/cluster_difference.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

void run_topology_diff(const DiffClusterCommand& command) {
  write_output("", difference_in_words(open_cluster(command.a), open_cluster(command.b)));
}

}  // namespace foretrain

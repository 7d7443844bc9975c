// The command topology detect: describes this machine, or the copied sys/ and proc/ of another, as a cluster
// file. What could not be seen, what was assumed and what looks wrong also goes to standard error.
//
// `foretrain topology detect -o mine.toml` writes a cluster file in which everything that was not seen is
// assumed and marked so.
#include <algorithm>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/imported_cluster.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/detection/detection.hpp"

namespace foretrain {

namespace {

/// Adds `count` cores in place of GPUs, spread evenly over the sockets.
void place_cores(Machine& machine, int count) {
  const std::vector<int> sockets = machine.of_kind(PartKind::socket);
  for (int i = 0; i < count && !sockets.empty(); ++i) {
    const std::size_t place = static_cast<std::size_t>(i) * sockets.size() / static_cast<std::size_t>(count);
    machine.parts.push_back({PartKind::gpu, sockets[place]});
  }
  machine.remarks.push_back("A core takes the place of each GPU, as PyTorch trains over gloo.");
}

}  // namespace

ImportedCluster cluster_of_detected(DetectedMachine& detected, ImportAnswers answers) {
  answers.command = "detect";
  if (gpus_of(detected.machine) == 0 && answers.gpu.empty()) {
    answers.gpu = "cpu-core";
    answers.gpu_because = "no GPU was seen";
    place_cores(detected.machine, std::max(answers.gpus_per_node, 1));
  }
  return cluster_of(detected.machine, answers);
}

void run_topology_detect(const DetectClusterCommand& command) {
  DetectedMachine detected = detected_machine(command.root);
  const ImportedCluster cluster = cluster_of_detected(detected, command.answers);
  for (const std::string& what : detected.unseen)
    write_message(fmt::format("not seen: {}\n", printable_lines(what)));
  write_imported(cluster, command.output);
}

}  // namespace foretrain

// topology detect: the machine the program runs on, or the files of another, → a cluster file; what could not
// be seen, what was assumed and what looks wrong also on standard error.
#include <cstdio>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/imported_cluster.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/detection/detection.hpp"

namespace foretrain {

void run_topology_detect(const DetectClusterCommand& command) {
  DetectedMachine detected = detected_machine(command.root);
  ImportAnswers answers = command.answers;
  answers.command = "detect";
  if (gpus_of(detected.machine) == 0 && answers.gpu.empty()) {
    answers.gpu = "cpu-core";
    answers.gpu_because = "no GPU was seen";
    detected.machine.remarks.push_back("A core takes the place of each GPU, as PyTorch trains over gloo.");
  }
  const ImportedCluster cluster = cluster_of(detected.machine, answers);
  for (const std::string& what : detected.unseen)
    std::fprintf(stderr, "not seen: %s\n", printable_lines(what).c_str());
  write_imported(cluster, command.output);
}

}  // namespace foretrain

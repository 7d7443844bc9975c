// The detect stage: describes this machine as cluster.toml and records versions of Python's packages. Python
// is asked first, because PyTorch may know the name of a GPU that the system does not show.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "sim/app/imported_cluster.hpp"
#include "sim/app/machine/measured_rows.hpp"
#include "sim/app/machine/measuring.hpp"
#include "sim/app/machine/stages.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/import/detection/detection.hpp"
#include "sim/import/machines/pci_devices.hpp"

namespace foretrain {

namespace {

/// Asks Python for its versions, which it writes to about.json. The result's sentence is empty when that
/// worked.
StageEnd ask_python(MachineRun& run) {
  if (std::string why = missing_python(run); !why.empty()) return {StageState::skipped, std::move(why)};
  std::error_code ignored;
  std::filesystem::remove("about.json", ignored);
  // An older file must not be taken for the new answer.
  const StageEnd end = run_measure(run, {"about", "-o", run.folder + "/about.json"}, "about");
  if (end.state != StageState::done) return end;
  if (!std::filesystem::exists("about.json", ignored))
    return {StageState::failed, "Python wrote no versions."};
  if (read_about().empty()) return {StageState::failed, "The versions of Python are no JSON object."};
  return {};
}

/// Adds `count` GPUs that PyTorch reports and the system does not show. They are spread evenly over the
/// sockets.
void place_gpus(Machine& machine, int count) {
  const std::vector<int> sockets = machine.of_kind(PartKind::socket);
  for (int i = 0; i < count && !sockets.empty(); ++i)
    machine.parts.push_back({PartKind::gpu, sockets[static_cast<std::size_t>(i) % sockets.size()]});
}

/// Writes cluster.toml and log/detect.txt. Returns sentences for the user. Throws EnvironmentError when no
/// GPU is known and the run is not of the CPU.
std::string write_cluster(const MachineRun& run) {
  DetectedMachine detected = detected_machine("");
  detected.machine.place.file = "this machine";
  const Settings about = read_about();
  const std::string named = fact_of(about, "gpu");
  ImportAnswers answers;
  std::string said;
  // On the CPU a core takes the place of a GPU.
  if (run.device == "cpu") {
    answers.gpu = "cpu-core", answers.gpu_because = "--device cpu";
    if (gpus_of(detected.machine) == 0) place_gpus(detected.machine, 1);
  } else if (gpus_of(detected.machine) == 0) {
    const RecognisedGpu known = named.empty() ? RecognisedGpu{} : recognised_gpu({.product = named});
    if (known.name.empty() || known.assumed)
      throw EnvironmentError("no GPU was seen; --device cpu measures training on the CPU");
    answers.gpu = known.name, answers.gpu_because = "as PyTorch names it";
    place_gpus(detected.machine, std::max(1, std::atoi(fact_of(about, "gpus").c_str())));
    said = fmt::format("The system shows no GPU; the cluster has the {} of the catalog.", known.name);
  }
  const ImportedCluster cluster = cluster_of_detected(detected, answers);
  write_whole_file("cluster.toml", printable_lines(cluster.text));
  std::string log;
  for (const std::string& what : detected.unseen) log += "not seen: " + what + "\n";
  for (const std::string& what : cluster.assumptions) log += "assumed: " + what + "\n";
  for (const MachineWarning& doubt : cluster.doubts) log += "doubt: " + doubt.what + "\n";
  write_whole_file("log/detect.txt", printable_lines(log));
  for (const MachineWarning& doubt : cluster.doubts)
    said += fmt::format("{}{}.", said.empty() ? "" : " ", printable(doubt.what));
  return said;
}

}  // namespace

// A failure of Python does not prevent the cluster file, but it fails the stage.
StageEnd run_detect_stage(MachineRun& run) {
  StageEnd python = ask_python(run);
  if (python.state == StageState::interrupted) return python;
  StageEnd out;
  try {
    out.said = write_cluster(run);
  } catch (const InputError& error) {
    out = {StageState::failed, fmt::format("No cluster file was made: {}.", error.first_message())};
  } catch (const EnvironmentError& error) {
    out = {StageState::failed, fmt::format("No cluster file was made: {}.", error.what())};
  }
  if (out.state == StageState::done && python.state == StageState::failed) out.state = StageState::failed;
  if (!python.said.empty()) out.said += (out.said.empty() ? "" : " ") + python.said;
  return out;
}

}  // namespace foretrain

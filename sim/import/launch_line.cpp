// The commands that start a training program are candidates. A part of the answer counts only if all
// remaining candidates agree on it.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/import/jobs/named_software.hpp"
#include "sim/import/launch_reader.hpp"
#include "sim/import/program_arguments.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

using Candidates = std::vector<LaunchCandidate>;

/// Says whether a program does not train, by the words of its name, such as "eval" in "eval_model.py".
bool is_aside(const LaunchCandidate& candidate) {
  static constexpr std::array<std::string_view, 20> kWords{
      "prepare", "preprocess", "prepro",    "download", "convert",   "eval",     "evaluate",
      "test",    "infer",      "inference", "predict",  "plot",      "merge",    "split",
      "check",   "export",     "tokenize",  "generate", "visualize", "summarize"};
  if (!candidate.launch.program) return false;
  std::string word;
  for (const char c : std::string(base_name(candidate.launch.program->value)) + ".") {
    if (c != '_' && c != '-' && c != '.') {
      word += c;
      continue;
    }
    if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return true;
    word.clear();
  }
  return false;
}

/// Says whether a candidate is plain python, without a launcher.
bool is_plain(const LaunchCandidate& candidate) {
  return candidate.launch.started_by->value == StartedBy::python;
}

/// Removes the candidates with a property, unless all have it.
template <class Property>
void prefer(Candidates& candidates, Property has) {
  if (std::all_of(candidates.begin(), candidates.end(), has)) return;
  std::erase_if(candidates, has);
}

/// Clears a field if the other one differs.
template <class T>
void agree(Field<T>& field, const Field<T>& other) {
  if (field && (!other || !(other->value == field->value))) field.reset();
}

/// Keeps of `launch` only what the other candidate says as well.
void keep_common(JobLaunch& launch, const JobLaunch& other) {
  agree(launch.started_by, other.started_by);
  agree(launch.processes_per_node, other.processes_per_node);
  agree(launch.nodes, other.nodes);
  agree(launch.gpus_per_node, other.gpus_per_node);
  agree(launch.cpus_per_node, other.cpus_per_node);
  launch.follows_gpus = launch.follows_gpus && other.follows_gpus;
  agree(launch.alone, other.alone);
  agree(launch.awaited_nodes, other.awaited_nodes);
  agree(launch.program, other.program);
  const auto text_of = [](const ShellWord& word) { return word.text; };
  if (!std::ranges::equal(launch.program_words, other.program_words, {}, text_of, text_of))
    launch.program_words.clear();
  std::erase_if(launch.arguments, [&](const ProgramArgument& argument) {
    const ProgramArgument* same = find_argument(other.arguments, argument.key);
    return same == nullptr || same->value != argument.value;
  });
}

/// Takes the GPUs that the launcher hands out on each node, where a request for whole nodes states none.
void take_gpus_of_launch(JobScript& script) {
  JobResources& have = script.resources;
  const Field<int>& each = script.launch.gpus_per_node;
  if (have.gpus_per_node || !each) return;
  have.gpus_per_node = each;
  if (have.nodes)
    have.gpus = {
        static_cast<int>(std::min<std::int64_t>(std::int64_t{each->value} * have.nodes->value, 1 << 30)),
        each->span};
}

/// Takes the CPUs that srun -c and the like bind the processes to, where the request itself states none.
void take_cpus_of_launch(JobScript& script) {
  const Field<int>& cpus = script.launch.cpus_per_node;
  if (cpus && !script.request.cpus_per_task && !script.request.cpus_per_gpu)
    script.resources.cpus_per_node = cpus;
}

/// Returns the line of a candidate.
int line_of_candidate(const LaunchCandidate& candidate) { return candidate.launch.started_by->span.line; }

/// Chooses the launch: candidates that train, with a launcher, in branches that are surely taken, are
/// preferred in this order.
void choose(Candidates candidates, JobScript& script) {
  // A script often prepares data and evaluates before and behind the training.
  prefer(candidates, is_aside);
  prefer(candidates, is_plain);
  prefer(candidates, [](const LaunchCandidate& candidate) { return !candidate.certain; });
  const LaunchCandidate first = candidates.front();
  // The first candidate is kept where all agree; a field that differs becomes unknown.
  script.launch = first.launch;
  for (const LaunchCandidate& other : candidates) keep_common(script.launch, other.launch);
  for (const NotUnderstood& open : first.not_understood) script.not_understood.push_back(open);
  // A single candidate needs no agreement.
  if (candidates.size() == 1) return;
  std::vector<int> lines;
  for (const LaunchCandidate& candidate : candidates) lines.push_back(line_of_candidate(candidate));
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  script.launch.lines = static_cast<int>(lines.size());
  const SourceSpan span = first.launch.started_by->span;
  // Several lines that start alike are trainings one after the other, of which one is predicted.
  const bool agreed = script.launch.started_by && script.launch.processes_per_node.has_value() ==
                                                      first.launch.processes_per_node.has_value();
  if (!agreed)
    script.not_understood.push_back(
        {span, "", fmt::format("lines {} start programs in different ways", fmt::join(lines, ", "))});
  else if (lines.size() > 1)
    script.remarks.push_back({span, "",
                              fmt::format("lines {} start programs one after the other; one of them is "
                                          "predicted, the time limit is for all",
                                          fmt::join(lines, ", "))});
}

}  // namespace

// The names are in the order of the enumeration.
std::string_view name_of(StartedBy starter) {
  static constexpr std::array<std::string_view, 11> kNames{
      "torchrun",  "srun",  "mpirun",   "horovodrun",   "deepspeed", "accelerate",
      "lightning", "jsrun", "flux run", "remote shell", "python"};
  return kNames[static_cast<std::size_t>(starter)];
}

void read_launch(const std::vector<ShellCommand>& commands, const ShellValues& values,
                 const ScriptFinder& find, JobScript& script) {
  LaunchReader reader(script.resources, values, find);
  for (const ShellCommand& command : commands) reader.read(command);
  // Lines that could not be read may be the launch when no candidate is certain.
  const auto is_certain = [](const LaunchCandidate& candidate) { return candidate.certain; };
  const bool sure = std::any_of(reader.found().begin(), reader.found().end(), is_certain);
  if (!reader.found().empty()) choose(reader.found(), script);
  take_gpus_of_launch(script);
  take_cpus_of_launch(script);
  // A container image that the request names goes before what the commands load.
  if (!script.software) script.software = software_in(commands);
  // Variables count as they are at the end of the script.
  for (const std::string_view name : library_variables()) {
    if (const auto value = values.find(std::string(name)))
      script.variables.push_back({std::string(name), *value});
  }
  if (sure) return;
  const std::vector<NotUnderstood>& open =
      reader.found().empty() && reader.unknown().empty() ? reader.unread() : reader.unknown();
  for (const NotUnderstood& line : open) {
    if (script.not_understood.size() < 100) script.not_understood.push_back(line);
  }
  // Another branch may start the program in another way, so what was found is not the whole answer.
  if (!reader.unknown().empty())
    script.launch.started_by.reset(), script.launch.processes_per_node.reset(), script.launch.nodes.reset();
}

}  // namespace foretrain

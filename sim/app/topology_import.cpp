// The command topology import: reads what tools print about a machine, joins it to one machine, and writes a
// cluster file. Output of several tools in one text is cut into blocks first. Assumptions also go to standard
// error.
//
// `nvidia-smi topo -m | foretrain topology import - -o mine.toml` writes the cluster file. A text that tells
// nothing about a machine ends it with exit code 1.
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/imported_cluster.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/detection/detection.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/pasted/pasted_text.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

// Limit of a file in bytes. A dump of 64 GPUs with 64 adapters has less than 1 MiB, a network of 10,000 hosts
// less than 10 MiB.
constexpr std::size_t kLargestMachineFile = std::size_t{64} << 20;

/// Adds the machines, contradictions and notes of a pasted text.
void add_pasted(PastedText pasted, ReadMachines& out) {
  std::move(pasted.machines.begin(), pasted.machines.end(), std::back_inserter(out.machines));
  std::move(pasted.doubts.begin(), pasted.doubts.end(), std::back_inserter(out.doubts));
  std::move(pasted.notes.begin(), pasted.notes.end(), std::back_inserter(out.notes));
}

/// Reads one file. A folder is a copy of a node's sys/ and proc/.
void read_one(const std::string& name, ReadMachines& out) {
  if (std::error_code error; std::filesystem::is_directory(name, error))
    return out.machines.push_back(detected_machine(name).machine);
  const SourceText source = read_machine_text(name);
  if (auto pasted = read_pasted_text(source)) return add_pasted(std::move(*pasted), out);
  out.machines.push_back(read_machine(source));
}

}  // namespace

SourceText read_machine_text(const std::string& name) {
  SourceText source = read_text_file(name == "-" ? "/dev/stdin" : name, kLargestMachineFile);
  if (name == "-") source.name = "standard input";
  return source;
}

// Mistakes of all files are collected and thrown together.
ReadMachines read_machines(const std::vector<std::string>& files) {
  ReadMachines out;
  std::vector<Diagnostic> mistakes;
  for (const std::string& name : files) {
    try {
      read_one(name, out);
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  if (out.machines.empty())
    throw InputError({{files.front(),
                       {},
                       "",
                       "no block of this text tells of a machine",
                       "paste what `nvidia-smi topo -m` and `lscpu` print on a node"}});
  return out;
}

ImportedCluster cluster_of_read(const ReadMachines& read, const ImportAnswers& answers) {
  const MeantNodes meant{answers.partition, answers.gpu};
  Machine machine = joined(read.machines, meant);
  machine.doubts.insert(machine.doubts.end(), read.doubts.begin(), read.doubts.end());
  return cluster_of(machine, answers);
}

// The file itself goes to the output; sentences for the user go to standard error.
void write_imported(const ImportedCluster& cluster, const std::string& output) {
  write_output(output, cluster.text);
  for (const std::string& assumption : cluster.assumptions)
    write_message(fmt::format("assumed: {}\n", printable_lines(assumption)));
  for (const std::string& check : cluster.checks)
    write_message(fmt::format("NCCL's graph: {}\n", printable_lines(check)));
  for (const MachineWarning& doubt : cluster.doubts) {
    const std::string text =
        fmt::format("warning: {}: {}\n  hint: {}", to_string(doubt.place), doubt.what, doubt.hint);
    write_message(printable_lines(text) + "\n");
  }
}

void run_topology_import(const ImportClusterCommand& command) {
  const ReadMachines read = read_machines(command.files);
  write_imported(cluster_of_read(read, command.answers), command.output);
  for (const std::string& note : read.notes) write_message(fmt::format("note: {}\n", printable_lines(note)));
}

}  // namespace foretrain

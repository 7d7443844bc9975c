// topology import: what tools print of a machine → one machine → a cluster file; assumptions also on standard
// error.
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/imported_cluster.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/detection/detection.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// A dump of 64 GPUs with 64 adapters is below one; networks of 10,000 hosts below ten.
constexpr std::size_t kLargestMachineFile = std::size_t{64} << 20;

/// A folder is a copy of a node's sys/ and proc/.
Machine read_one(const std::string& name) {
  if (std::error_code error; std::filesystem::is_directory(name, error))
    return detected_machine(name).machine;
  SourceText source = read_text_file(name == "-" ? "/dev/stdin" : name, kLargestMachineFile);
  if (name == "-") source.name = "standard input";
  return read_machine(source);
}

/// Mistakes of all files at once.
std::vector<Machine> read_machines(const std::vector<std::string>& files) {
  std::vector<Machine> machines;
  std::vector<Diagnostic> mistakes;
  for (const std::string& name : files) {
    try {
      machines.push_back(read_one(name));
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return machines;
}

}  // namespace

void write_imported(const ImportedCluster& cluster, const std::string& output) {
  write_output(output, cluster.text);
  for (const std::string& assumption : cluster.assumptions)
    std::fprintf(stderr, "assumed: %s\n", printable_lines(assumption).c_str());
  for (const std::string& check : cluster.checks)
    std::fprintf(stderr, "NCCL's graph: %s\n", printable_lines(check).c_str());
  for (const MachineDoubt& doubt : cluster.doubts) {
    const std::string text =
        fmt::format("warning: {}: {}\n  hint: {}", to_string(doubt.place), doubt.what, doubt.hint);
    std::fprintf(stderr, "%s\n", printable_lines(text).c_str());
  }
}

void run_topology_import(const ImportClusterCommand& command) {
  const MeantNodes meant{command.answers.partition, command.answers.gpu};
  write_imported(cluster_of(joined(read_machines(command.files), meant), command.answers), command.output);
}

}  // namespace foretrain

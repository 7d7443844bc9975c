// This file uses scontrol alone, because every node of a Slurm cluster has it, and it needs no data base.
#include "sim/import/detection/slurm_site.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/import/detection/command_output.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Returns the value of "KEY=" in a line of scontrol -o; empty when the line lacks the key.
std::string value_in(std::string_view line, std::string_view key) {
  for (const std::string_view word : words_of(line, 200)) {
    if (word.starts_with(key)) return std::string(word.substr(key.size()));
  }
  return "";
}

/// Returns GPUs and CPUs of a node as texts, which tell its kind.
std::pair<std::string, std::string> kind_of_node(std::string_view line) {
  return {value_in(line, "Gres="), value_in(line, "CPUTot=")};
}

/// Says whether a node is this host: Slurm may know "gpu07.cluster.example" by its full or its short name.
bool is_host(const std::string& name, const std::string& host) {
  return !name.empty() && (name == host || name == host.substr(0, host.find('.')));
}

}  // namespace

std::string nodes_like(const std::string& text, const std::string& host) {
  std::pair<std::string, std::string> own;
  bool is_known = false;
  LogLines search(text);
  for (LogLine line; !is_known && search.next(line);) {
    is_known = is_host(value_in(line.text, "NodeName="), host);
    if (is_known) own = kind_of_node(line.text);
  }
  // A login node is usually not among the nodes; its kind says nothing then.
  if (!is_known) return text;
  // The second pass keeps the nodes of the host's kind.
  std::string out;
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (kind_of_node(line.text) == own) out += line.text + "\n";
  }
  return out;
}

SlurmSite slurm_site(const std::string& host) {
  SlurmSite out;
  // A site without scontrol has no Slurm, so the other commands are not tried.
  const CommandOutput nodes = command_output({"scontrol", "--oneliner", "show", "node"});
  if (!nodes.problem.empty()) {
    out.missing.push_back(
        fmt::format("Slurm (scontrol {}): how many nodes there are, and how they are joined", nodes.problem));
    return out;
  }
  out.texts.push_back({"scontrol show node", nodes_like(nodes.text, host)});
  const CommandOutput partitions = command_output({"scontrol", "show", "partition"});
  if (partitions.text.find("PartitionName=") != std::string::npos)
    out.texts.push_back({"scontrol show partition", partitions.text});
  else
    // Networks are optional in Slurm, so their absence is not an error.
    out.missing.push_back("Slurm's partitions (scontrol show partition names none): limits of jobs");
  const CommandOutput switches = command_output({"scontrol", "show", "topology"});
  if (switches.text.find("SwitchName=") != std::string::npos ||
      switches.text.find("BlockName=") != std::string::npos)
    out.texts.push_back({"scontrol show topology", switches.text});
  else
    out.missing.push_back("Slurm's switches (scontrol show topology names none): how nodes are joined");
  return out;
}

}  // namespace foretrain

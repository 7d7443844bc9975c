// Reads `pbsnodes -a` of PBS Pro, OpenPBS and Torque: the name of a node at the margin, its attributes
// indented below.
//
//   gpu01
//        state = free
//        resources_available.ngpus = 4
//        resources_available.mem = 263846244kb
//
// Taken are GPUs, cores, memory, queues, properties, and the product of the GPUs under the keys that sites
// use. Jobs and states are ignored. A text without a node is reported.
#include <algorithm>
#include <cstdlib>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/sites/node_records.hpp"

namespace foretrain {

namespace {

/// Nodes of a site, and queues or properties of a node, at most; more are dropped.
constexpr std::size_t kMostPbsNodes = 100'000, kMostPbsWords = 64;
/// Largest memory of a node that is believed, in bytes.
constexpr double kMostPbsBytes = 1e15;

/// Names of the resource by which sites tell the product of a node's GPUs; no standard exists.
constexpr std::string_view kTypeKeys[] = {"gpu_type", "gputype",    "gpu_model",        "gpumodel",
                                          "gpuname",  "gpu_model0", "accelerator_model"};

/// Returns whether a line belongs to the node above it.
bool is_indented(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

/// Returns "263846244kb" or "512gb" in bytes, with units as powers of two; 0 for other texts.
Bytes memory_of_pbs(std::string_view text) {
  const std::string copy = lower_case(text.substr(0, 40));
  char* rest = nullptr;
  const double value = std::strtod(copy.c_str(), &rest);
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"kb", 1024.0}, {"mb", 1048576.0}, {"gb", 1073741824.0}, {"tb", 1099511627776.0}};
  for (const auto& [unit, factor] : kUnits) {
    if (std::string_view(rest) == unit && value > 0 && value * factor < kMostPbsBytes)
      return Bytes{static_cast<std::int64_t>(value * factor)};
  }
  return {};
}

/// Returns a number, clamped to 0 to 100,000; 0 where the text is none.
int count_of_pbs(std::string_view text) {
  return static_cast<int>(std::clamp<std::int64_t>(integer_of(text).value_or(0), 0, 100'000));
}

/// Adds the queues in a list with commas.
void add_queues(std::string_view names, NodeRecord& node) {
  for (const std::string_view name : split_at(names, ',')) {
    if (!trimmed(name).empty() && node.partitions.size() < kMostPbsWords)
      add_partition_once(node.partitions, {std::string(trimmed(name).substr(0, 200))});
  }
}

/// Takes one attribute. `key` comes without "resources_available.". Several keys may give one value, of which
/// the largest counts.
void take_attribute(std::string_view key, std::string_view value, NodeRecord& node) {
  if (key == "ngpus" || key == "gpus" || key == "naccelerators")
    node.gpus = std::max(node.gpus, count_of_pbs(value));
  if (key == "pcpus" || key == "np" || key == "ncpus") node.cores = std::max(node.cores, count_of_pbs(value));
  if (key == "mem") node.memory = memory_of_pbs(value);
  if (key == "queue" || key == "Qlist" || key == "qlist") add_queues(value, node);
  if (std::ranges::find(kTypeKeys, lower_case(key)) != std::end(kTypeKeys))
    node.gpu_type = std::string(value.substr(0, 200));
  if (key != "properties") return;
  for (const std::string_view feature : split_at(value, ',')) {
    if (!trimmed(feature).empty() && node.features.size() < kMostPbsWords)
      node.features.emplace_back(trimmed(feature).substr(0, 200));
  }
}

/// Returns the nodes of a text. A line at the margin with blanks or " = " is no node's name.
std::vector<NodeRecord> pbs_records(std::string_view text) {
  std::vector<NodeRecord> nodes;
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const std::string_view words = trimmed(line.text);
    const std::size_t equals = words.find(" = ");
    if (words.empty()) continue;
    if (!is_indented(line.text)) {
      if (equals != std::string_view::npos || words.find(' ') != std::string_view::npos) continue;
      if (nodes.size() >= kMostPbsNodes) break;
      nodes.emplace_back().line = line.number;
      nodes.back().hosts = {std::string(words.substr(0, 200))};
    } else if (!nodes.empty() && equals != std::string_view::npos) {
      std::string_view key = words.substr(0, equals);
      if (key.starts_with("resources_available."))
        key.remove_prefix(std::string_view("resources_available.").size());
      take_attribute(key, trimmed(words.substr(equals + 3)), nodes.back());
    }
  }
  return nodes;
}

}  // namespace

bool is_pbs_nodes(std::string_view text) {
  return (holds(text, " ntype = ") && holds(text, " state = ")) ||
         holds(text, " resources_available.ncpus = ");
}

Machine read_pbs_nodes(const SourceText& source, Diagnostics& diagnostics) {
  const std::vector<NodeRecord> nodes = pbs_records(source.text);
  if (nodes.empty()) {
    diagnostics.report({1, 1, 1}, "no node's name stands at the margin", "pbsnodes -a prints what is read");
    return {};
  }
  Machine machine = machine_of_records(nodes, source.name, BatchSystem::pbs);
  // A list of nodes shows GPUs where there are some, so none in any node is a fact.
  machine.has_no_gpu = machine.gpu_count == 0;
  return machine;
}

}  // namespace foretrain

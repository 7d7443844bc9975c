// pbsnodes -a of PBS Pro, OpenPBS and Torque: a node's name at the margin, its attributes indented below.
#include <algorithm>
#include <cstdlib>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/sites/node_records.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kMostPbsNodes = 100'000, kMostPbsWords = 64;
constexpr double kMostPbsBytes = 1e15;

/// What sites call the product of a node's GPUs, by which select lines ask for it.
constexpr std::string_view kTypeKeys[] = {"gpu_type", "gputype",    "gpu_model",        "gpumodel",
                                          "gpuname",  "gpu_model0", "accelerator_model"};

bool is_indented(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

/// "263846244kb", "512gb"; units are powers of two.
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

int count_of_pbs(std::string_view text) {
  return static_cast<int>(std::clamp<std::int64_t>(integer_of(text).value_or(0), 0, 100'000));
}

void add_queues(std::string_view names, NodeRecord& node) {
  for (const std::string_view name : split_at(names, ',')) {
    if (!trimmed(name).empty() && node.partitions.size() < kMostPbsWords)
      add_partition_once(node.partitions, {std::string(trimmed(name).substr(0, 200))});
  }
}

/// `key` without "resources_available.".
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
  machine.has_no_gpu = machine.gpu_count == 0;
  return machine;
}

}  // namespace foretrain

// Reads `scontrol show partition`, with and without -o: records of KEY=VALUE that begin with PartitionName.
//
//   PartitionName=gpu Default=YES MaxTime=2-00:00:00 MaxNodes=16 State=UP TRES=cpu=512,gres/gpu=64
//   Nodes=gpu[01-16]
//
// Taken are limits of nodes and time, the default, whole nodes (EXCLUSIVE) and the list of nodes. Accounts,
// priorities and quality of service are ignored. Nothing is reported.
#include <algorithm>

#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/sites/slurm_partition_keys.hpp"

namespace foretrain {

namespace {

/// Partitions, at most.
constexpr std::size_t kMostPartitions = 200;
/// Largest limits that are believed: nodes of a job, and its time in seconds (400 days).
constexpr std::int64_t kMostJobNodes = 100'000, kLongestLimit = 400 * 86'400;
/// Bytes of a list of nodes that are kept.
constexpr std::size_t kLongestHostList = 100'000;

/// Returns a limit of nodes; 0, no limit, for UNLIMITED and for what is no number.
int node_limit(std::string_view text) {
  return static_cast<int>(std::clamp<std::int64_t>(integer_of(text).value_or(0), 0, kMostJobNodes));
}

}  // namespace

void take_partition_key(PartitionRecord& record, std::string_view key, std::string_view value) {
  Partition& partition = record.partition;
  if (key == "PartitionName") partition.name = std::string(value.substr(0, 200));
  if (key == "MaxNodes") partition.most_nodes = node_limit(value);
  if (key == "MinNodes" && node_limit(value) > 1) partition.least_nodes = node_limit(value);
  if (key == "MaxTime")
    partition.longest =
        std::chrono::seconds(std::clamp<std::int64_t>(slurm_time(value).value_or(0), 0, kLongestLimit));
  if (key == "OverSubscribe") partition.whole_nodes = value.starts_with("EXCLUSIVE");
  if (key == "State") record.is_up = value.starts_with("UP");
  if (key == "Default") partition.is_default = value.starts_with("YES") || value.starts_with("yes");
  if (key == "Nodes") record.hosts = std::string(value.substr(0, kLongestHostList));
  if (key == "TRES") record.has_gpus = holds(value, "gres/gpu");
}

bool begins_partition(std::string_view line) { return trimmed(line).starts_with("PartitionName="); }

bool is_slurm_partitions(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (begins_partition(line.text)) return true;
  }
  return false;
}

/// Keeps the partitions with GPUs where any have some. Those that are down take no jobs and are dropped.
Machine read_slurm_partitions(const SourceText& source, Diagnostics&) {
  Machine machine;
  std::vector<PartitionRecord> records;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    if (begins_partition(line.text)) {
      if (records.size() == kMostPartitions) break;
      if (records.empty()) machine.place = {source.name, line.number};
      records.emplace_back();
    }
    for (const std::string_view word : words_of(line.text, 100)) {
      const std::size_t equals = word.find('=');
      if (!records.empty() && equals != std::string_view::npos)
        take_partition_key(records.back(), word.substr(0, equals), word.substr(equals + 1));
    }
  }
  const bool has_gpus = std::ranges::any_of(records, &PartitionRecord::has_gpus);
  machine.site.system = BatchSystem::slurm;
  for (const PartitionRecord& record : records) {
    if (!record.is_up || record.has_gpus != has_gpus) continue;
    machine.site.partitions.push_back(record.partition);
    machine.partition_hosts.push_back(record.hosts);
  }
  return machine;
}

}  // namespace foretrain

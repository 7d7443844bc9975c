// scontrol show partition, with and without -o: records of KEY=VALUE that begin with PartitionName.
#include <algorithm>

#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/sites/slurm_partition_keys.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kMostPartitions = 200;
constexpr std::int64_t kMostJobNodes = 100'000, kLongestLimit = 400 * 86'400;
constexpr std::size_t kLongestHostList = 100'000;

/// UNLIMITED and what is no number are no limit.
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

/// Partitions with GPUs where any have some; those that are down take no jobs.
Machine read_slurm_partitions(const SourceText& source, Diagnostics&) {
  Machine machine;
  std::vector<PartitionRecord> records;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line) && records.size() <= kMostPartitions;) {
    if (begins_partition(line.text)) {
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

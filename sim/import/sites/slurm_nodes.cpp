// Nodes as Slurm knows them: records of KEY=VALUE that begin with NodeName, from scontrol show node,
// slurm.conf and gres.conf.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/host_list.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/sites/node_records.hpp"
#include "sim/import/sites/slurm_partition_keys.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kMostNodeRecords = 100'000, kMostConfigPartitions = 200;

struct SlurmNode {
  int line = 0;
  std::map<std::string, std::string, std::less<>> keys;

  std::string_view text(std::string_view key) const {
    const auto found = keys.find(key);
    return found == keys.end() ? std::string_view() : found->second;
  }
  int number(std::string_view key, int otherwise) const {
    return static_cast<int>(
        std::clamp<std::int64_t>(integer_of(text(key)).value_or(otherwise), 0, 1'000'000'000));
  }
};

/// What a template has yet to fill in is not said.
bool is_template(std::string_view text) { return holds(text, "{{"); }
std::string value_of_word(std::string_view value) { return is_template(value) ? "" : std::string(value); }

/// Whether the record is of a node whose GPUs would stand in it.
bool denies_gpus(const SlurmNode& node) {
  const bool is_node = !node.text("NodeName").empty() && node.keys.contains("Gres");
  const std::string_view gres = node.text("Gres");
  return is_node && (gres == "(null)" || gres.empty());
}

/// Nodes and partitions in the order of the text.
struct SlurmRecords {
  std::vector<SlurmNode> nodes;
  std::vector<PartitionRecord> partitions;
};

/// NodeName=DEFAULT and PartitionName=DEFAULT hold for the records behind them, which say what is other.
void take_defaults(SlurmNode& node, const SlurmNode& defaults) {
  for (const auto& [key, value] : defaults.keys) {
    if (key != "NodeName") node.keys.emplace(key, value);
  }
}

class SlurmConfig {
 public:
  void take(const LogLine& line) {
    for (const std::string_view word : words_of(line.text, 200)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
      const bool begins = key == "NodeName" || (key == "Name" && !holds(line.text, "NodeName="));
      if (begins) begin_node(line.number);
      if (key == "PartitionName") begin_partition();
      if (in_partition_ && !records_.partitions.empty())
        take_partition_key(records_.partitions.back(), key, value);
      if (!in_partition_ && !records_.nodes.empty() && records_.nodes.back().keys.size() < 200)
        records_.nodes.back().keys.insert_or_assign(std::string(key),
                                                    value_of_word(value.substr(0, 100'000)));
    }
  }

  SlurmRecords records() {
    end_record();
    return std::move(records_);
  }

 private:
  void begin_node(int line) {
    end_record();
    in_partition_ = false;
    if (records_.nodes.size() < kMostNodeRecords) records_.nodes.push_back({line, {}});
  }
  void begin_partition() {
    end_record();
    in_partition_ = true;
    if (records_.partitions.size() >= kMostConfigPartitions) return;
    records_.partitions.push_back(partition_defaults_);
  }
  /// A record of defaults is none of a node or partition.
  void end_record() {
    std::vector<SlurmNode>& nodes = records_.nodes;
    if (!in_partition_ && !nodes.empty()) {
      if (nodes.back().text("NodeName") == "DEFAULT") {
        take_defaults(nodes.back(), node_defaults_);
        node_defaults_ = std::move(nodes.back());
        nodes.pop_back();
      } else if (nodes.back().text("Name").empty()) {
        take_defaults(nodes.back(), node_defaults_);
      }
    }
    std::vector<PartitionRecord>& partitions = records_.partitions;
    if (in_partition_ && !partitions.empty() && partitions.back().partition.name == "DEFAULT") {
      partition_defaults_ = std::move(partitions.back());
      partitions.pop_back();
    }
  }

  SlurmRecords records_;
  SlurmNode node_defaults_{};
  PartitionRecord partition_defaults_{};
  bool in_partition_ = false;
};

/// Values are read up to the next blank; what Slurm prints with blanks in it (OS=Linux 3.10 …) is none of
/// ours.
SlurmRecords slurm_records(std::string_view text) {
  SlurmConfig config;
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (!line.text.starts_with("#") && !line.text.starts_with("{%")) config.take(line);
  }
  return config.records();
}

/// Of Gres=gpu:v100:4, or of gres.conf's Name=gpu File=/dev/nvidia[0-3].
GpuRequest gpus_of_node(const SlurmNode& node) {
  if (node.text("Name") == "gpu") {
    GpuRequest listed;
    listed.count = node.text("File").empty() ? node.number("Count", 0) : count_of_names(node.text("File"));
    listed.type = std::string(node.text("Type"));
    return listed;
  }
  std::string gres(node.text("Gres"));
  if (const std::size_t sockets = gres.find('('); sockets != std::string::npos)
    gres.erase(sockets);  // (S:0-1)
  if (gres.empty() || gres == "null") return {};
  const GpuRequest read = slurm_gpus(gres, true);
  return read.problem.empty() && !is_slice(read.type) ? read : GpuRequest{};
}

NodeRecord record_of_node(const SlurmNode& node, std::size_t& names_left) {
  NodeRecord record;
  const GpuRequest gpus = gpus_of_node(node);
  record.line = node.line, record.gpus = gpus.count, record.gpu_type = gpus.type;
  take_hosts(record, node.text("NodeName"), names_left);
  const int boards = std::max(node.number("Boards", 1), 1);
  record.sockets = node.number("Sockets", node.number("SocketsPerBoard", 0) * boards);
  record.cores = static_cast<int>(
      std::min<std::int64_t>(std::int64_t{record.sockets} * node.number("CoresPerSocket", 0), 100'000));
  record.memory = Bytes{std::int64_t{node.number("RealMemory", 0)} << 20};
  for (const std::string_view key : {"AvailableFeatures", "Features", "Feature"}) {
    for (const std::string_view feature : split_at(node.text(key), ',')) {
      if (!feature.empty() && feature != "(null)") record.features.emplace_back(feature.substr(0, 200));
    }
  }
  for (const std::string_view name : split_at(node.text("Partitions"), ',')) {
    if (!name.empty()) record.partitions.push_back({std::string(name.substr(0, 200))});
  }
  return record;
}

/// Lines of gres.conf for the same nodes, say one for each socket, are of one node: their GPUs add up. Lines
/// that name no node are of the node that the file lies on.
void add_gres_line(const SlurmNode& node, std::vector<NodeRecord>& lines,
                   std::map<std::string, std::size_t>& known, std::size_t& names_left) {
  NodeRecord record = record_of_node(node, names_left);
  const std::string_view name = node.text("NodeName");
  const std::string key = name.empty() ? "" : fmt::format("{} {}", name, record.gpu_type);
  const auto [at, is_new] = known.emplace(key, lines.size());
  if (is_new)
    lines.push_back(std::move(record));
  else
    lines[at->second].gpus += record.gpus;
}

/// Nodes; lines of gres.conf stand in where no node says what GPUs it has.
std::vector<NodeRecord> records_of(const SlurmRecords& read) {
  std::vector<NodeRecord> records, gres;
  std::map<std::string, std::size_t> known;
  std::size_t names_left = kMostHostNames;
  for (const SlurmNode& node : read.nodes) {
    if (!node.text("Name").empty())
      add_gres_line(node, gres, known, names_left);
    else
      records.push_back(record_of_node(node, names_left));
  }
  const bool has_gpus = std::ranges::any_of(records, [](const NodeRecord& r) { return r.gpus > 0; });
  if (!has_gpus && std::ranges::any_of(gres, [](const NodeRecord& r) { return r.gpus > 0; }))
    records = std::move(gres);
  if (records.empty()) records.emplace_back();
  for (const PartitionRecord& partition : read.partitions) {
    if (!partition.is_up) continue;
    const HostSet hosts(partition.hosts);
    for (NodeRecord& record : records) {
      if (hosts.shares(record.hosts)) record.partitions.push_back(partition.partition);
    }
  }
  return records;
}

}  // namespace

bool is_slurm_nodes(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const Words words = words_of(line.text, 1);
    if (words.empty()) continue;
    if (words[0].starts_with("NodeName=") || words[0] == "Name=gpu" || words[0].starts_with("AutoDetect="))
      return true;
  }
  return false;
}

/// The kinds of node of all records, with the partitions that hold them.
Machine read_slurm_nodes(const SourceText& source, Diagnostics& diagnostics) {
  const SlurmRecords read = slurm_records(source.text);
  const std::vector<SlurmNode>& nodes = read.nodes;
  if (nodes.empty()) {
    Machine machine;
    // AutoDetect=nvml alone: Slurm asks the driver.
    if (holds(source.text, "AutoDetect=")) return machine.place = {source.name, 1}, machine;
    diagnostics.report({1, 1, 1}, "no record begins with NodeName= or Name=");
    return machine;
  }
  Machine machine = machine_of_records(records_of(read), source.name, BatchSystem::slurm);
  machine.has_no_gpu =
      machine.gpu_count == 0 && !is_template(source.text) && std::ranges::all_of(nodes, denies_gpus);
  if (is_template(source.text))
    machine.remarks.push_back("a template: what it has yet to fill in is not said; give the file it makes");
  return machine;
}

}  // namespace foretrain

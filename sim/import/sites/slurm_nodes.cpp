// Reads nodes as Slurm knows them: records of KEY=VALUE that begin with NodeName, from `scontrol show node`,
// slurm.conf and gres.conf.
//
//   NodeName=gpu[01-08] Gres=gpu:a100:4 Sockets=2 CoresPerSocket=32 RealMemory=512000 Feature=ib
//   PartitionName=gpu Nodes=gpu[01-08] MaxTime=2-00:00:00 State=UP
//   Name=gpu Type=a100 File=/dev/nvidia[0-3]
//
// Taken are GPUs, cores, memory, features and partitions; states, weights and addresses are ignored.
// Templates of Jinja are read with their gaps left empty, and a remark tells so. A text without a record is
// reported.
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

/// Records of nodes and partitions, at most; more are dropped.
constexpr std::size_t kMostNodeRecords = 100'000, kMostConfigPartitions = 200;

/// One record: its first line, and its values by key.
struct SlurmNode {
  int line = 0;
  std::map<std::string, std::string, std::less<>> keys;

  /// Returns the value of a key; empty where it is missing.
  std::string_view text(std::string_view key) const {
    const auto found = keys.find(key);
    return found == keys.end() ? std::string_view() : found->second;
  }
  /// Returns a number from 0 to 1e9; `otherwise` where the key is missing or no number.
  int number(std::string_view key, int otherwise) const {
    return static_cast<int>(
        std::clamp<std::int64_t>(integer_of(text(key)).value_or(otherwise), 0, 1'000'000'000));
  }
};

/// Returns whether a value has a gap that a template has yet to fill; such a value counts as missing.
bool is_template(std::string_view text) { return holds(text, "{{"); }
std::string value_of_word(std::string_view value) { return is_template(value) ? "" : std::string(value); }

/// Returns whether a record would show GPUs if the node had some, and shows none.
bool denies_gpus(const SlurmNode& node) {
  const bool is_node = !node.text("NodeName").empty() && node.keys.contains("Gres");
  const std::string_view gres = node.text("Gres");
  return is_node && (gres == "(null)" || gres.empty());
}

/// All records of a text, in its order.
struct SlurmRecords {
  std::vector<SlurmNode> nodes;
  std::vector<PartitionRecord> partitions;
};

/// Adds the values of NodeName=DEFAULT to a record that does not have them. Defaults hold for all records
/// behind them.
void take_defaults(SlurmNode& node, const SlurmNode& defaults) {
  for (const auto& [key, value] : defaults.keys) {
    if (key != "NodeName") node.keys.emplace(key, value);
  }
}

/// Collects the records of a text. A record ends where the next one begins; a line may hold a whole record or
/// one part.
class SlurmConfig {
 public:
  void take(const LogLine& line) {
    for (const std::string_view word : words_of(line.text, 200)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
      // In gres.conf a record may begin with Name; where the line has NodeName as well, that one begins it.
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
  /// Completes the open record. A record of defaults is kept aside and is neither a node nor a partition.
  /// Lines of gres.conf take no defaults.
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

/// Reads all lines. A value ends at the next blank. Values that Slurm prints with blanks (OS=Linux 3.10 …)
/// are not needed here.
SlurmRecords slurm_records(std::string_view text) {
  SlurmConfig config;
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (!line.text.starts_with("#") && !line.text.starts_with("{%")) config.take(line);
  }
  return config.records();
}

/// Returns the GPUs of Gres=gpu:v100:4, or of gres.conf's Name=gpu File=/dev/nvidia[0-3]. Slices of GPUs
/// (MIG) count as none.
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

/// Returns the record in the form that all batch systems share. RealMemory is in MiB.
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

/// Adds a line of gres.conf. Lines for the same nodes and type describe one node, for example one line for
/// each socket, so their GPUs add up. Lines without a node are of the node that the file is on.
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

/// Returns the nodes with their partitions. Lines of gres.conf are taken where no node has GPUs in its own
/// record.
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

/// Reads the kinds of node of all records, with the partitions that hold them.
Machine read_slurm_nodes(const SourceText& source, Diagnostics& diagnostics) {
  const SlurmRecords read = slurm_records(source.text);
  const std::vector<SlurmNode>& nodes = read.nodes;
  if (nodes.empty()) {
    Machine machine;
    // A file with AutoDetect=nvml alone is valid and tells nothing: Slurm asks the driver on the node.
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

// Reads the table of sinfo: a heading of Slurm's field names, then a line for each partition and state, or
// for each node (-N).
//
//   PARTITION  TIMELIMIT   NODES  GRES        CPUS  MEMORY  NODELIST
//   gpu*       2-00:00:00  16     gpu:a100:4  128   512000  gpu[01-16]
//
// Which columns stand in the table is the user's choice (-o, -O). Taken are GPUs, cores, memory, features,
// partitions with their limits, and names or numbers of nodes. Lines with fewer words than the heading are
// counted in a remark. A table without lines, or one that names GPUs among the features only, is reported.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/host_list.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/sites/node_records.hpp"

namespace foretrain {

namespace {

/// Lines of a table, and different features that are looked up, at most.
constexpr std::size_t kMostRows = 100'000, kMostFeatureWords = 1000;
/// Largest limits that are believed: nodes of a job, and its time in seconds (400 days).
constexpr std::int64_t kMostTableNodes = 100'000, kLongestTableLimit = 400 * 86'400;

/// Names of fields by which a heading is recognised (manual page sinfo.1: -o, -O, -l, -N); some of them are
/// read.
constexpr std::string_view kFields[] = {
    "PARTITION", "AVAIL",    "TIMELIMIT", "NODES",    "STATE",    "NODELIST", "JOB_SIZE",
    "ROOT",      "OVERSUBS", "GROUPS",    "CPUS",     "S:C:T",    "SOCKETS",  "CORES",
    "THREADS",   "MEMORY",   "GRES",      "TMP_DISK", "WEIGHT",   "AVAIL_FE", "REASON",
    "GRES_USED", "SHARE",    "HOSTNAMES", "CPU_LOAD", "FREE_MEM", "FEATURES", "STATECOMPACT"};

/// Returns whether a line is a heading: a field that identifies nodes, at least three known fields, and more
/// known than unknown words.
bool is_sinfo_heading(const Words& words) {
  const auto is_field = [](std::string_view word) {
    return std::ranges::find(kFields, word) != std::end(kFields);
  };
  const auto known = std::ranges::count_if(words, is_field);
  const bool has_key = std::ranges::find(words, "PARTITION") != words.end() ||
                       std::ranges::find(words, "NODELIST") != words.end();
  return has_key && known >= 3 && 2 * known > std::ssize(words);
}

/// One line: values by the names of the heading.
using TableRow = std::map<std::string, std::string, std::less<>>;

/// Returns a value; empty where the table has no such column.
std::string_view field(const TableRow& row, std::string_view name) {
  const auto found = row.find(name);
  return found == row.end() ? std::string_view() : found->second;
}

/// Returns the number at the begin of "40" or "40+", where + means at least so many on each node; 0: no
/// number.
std::int64_t leading_count(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::clamp<std::int64_t>(value, 0, 1'000'000'000);
}

/// The rows of all tables in a text.
struct SinfoTable {
  // Line of the first heading.
  int heading = 0;
  std::vector<TableRow> rows;
  // Lines that do not fit the heading, or are beyond the limit.
  std::size_t left_out = 0;
};

/// Reads all lines. The last field may contain blanks (REASON); a line with fewer words than the heading
/// cannot be assigned.
SinfoTable sinfo_table_of(std::string_view text) {
  SinfoTable table;
  std::vector<std::string> heading;
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const Words words = words_of(line.text, 40);
    if (is_sinfo_heading(words)) {
      if (heading.empty()) table.heading = line.number;
      heading.assign(words.begin(), words.end());
    } else if (!heading.empty() && !words.empty()) {
      const bool fits = words.size() >= heading.size() && table.rows.size() < kMostRows;
      if (!fits && ++table.left_out > 0) continue;
      TableRow& row = table.rows.emplace_back();
      for (std::size_t i = 0; i < heading.size(); ++i)
        row.emplace(heading[i], std::string(words[i].substr(0, 4000)));
    }
  }
  return table;
}

/// Returns the GPUs in the column GRES, "gpu:a100:4(S:0-1)" without the sockets. Slices of GPUs (MIG) count
/// as none.
GpuRequest gpus_of_row(const TableRow& row) {
  std::string gres(field(row, "GRES"));
  if (const std::size_t sockets = gres.find('('); sockets != std::string::npos) gres.erase(sockets);
  if (gres.empty()) return {};
  const GpuRequest read = slurm_gpus(gres, true);
  return read.problem.empty() && !is_slice(read.type) ? read : GpuRequest{};
}

/// Returns the partition of a row. "gpu*" is the default one; "1-4" in JOB_SIZE gives the nodes of a job.
Partition partition_of_row(const TableRow& row) {
  Partition partition;
  std::string_view name = field(row, "PARTITION");
  partition.is_default = name.ends_with('*');
  if (partition.is_default) name.remove_suffix(1);
  partition.name = std::string(name.substr(0, 200));
  partition.longest = std::chrono::seconds(
      std::clamp<std::int64_t>(slurm_time(field(row, "TIMELIMIT")).value_or(0), 0, kLongestTableLimit));
  const std::string_view sizes = field(row, "JOB_SIZE");
  if (const std::size_t dash = sizes.find('-'); dash != std::string_view::npos)
    partition.most_nodes = static_cast<int>(std::min(leading_count(sizes.substr(dash + 1)), kMostTableNodes));
  partition.whole_nodes = field(row, "OVERSUBS").starts_with("EXCL");
  return partition;
}

/// Takes sockets and cores from S:C:T or its parts; without them the column CPUS counts, which has threads.
void take_cores(const TableRow& row, NodeRecord& record) {
  const std::vector<std::string_view> parts = split_at(field(row, "S:C:T"), ':');
  const bool has_parts = parts.size() == 3;
  const std::int64_t sockets = leading_count(has_parts ? parts[0] : field(row, "SOCKETS")),
                     cores = leading_count(has_parts ? parts[1] : field(row, "CORES"));
  record.sockets = static_cast<int>(std::min<std::int64_t>(sockets, 1000));
  record.cores = static_cast<int>(
      std::min<std::int64_t>(sockets > 0 && cores > 0 ? sockets * std::min<std::int64_t>(cores, 100'000)
                                                      : leading_count(field(row, "CPUS")),
                             100'000));
}

/// Returns the features that jobs may ask for, under whichever name the heading has.
std::string_view features_of_row(const TableRow& row) {
  for (const std::string_view name : {"AVAIL_FEATURES", "AVAIL_FE", "FEATURES", "ACTIVE_FEATURES"}) {
    if (const std::string_view features = field(row, name); !features.empty()) return features;
  }
  return "";
}

/// Returns the row in the form that all batch systems share. MEMORY is in MiB.
NodeRecord record_of_row(const TableRow& row, int line, std::size_t& names_left) {
  NodeRecord record;
  const GpuRequest gpus = gpus_of_row(row);
  record.line = line, record.gpus = gpus.count, record.gpu_type = gpus.type;
  const std::string_view list = field(row, "NODELIST");
  record.count = leading_count(field(row, "NODES"));
  take_hosts(record, list.empty() ? field(row, "HOSTNAMES") : list, names_left);
  // Cores of nodes without GPUs would be taken for those of GPU nodes.
  if (gpus.count > 0 || field(row, "GRES").empty()) take_cores(row, record);
  record.memory = Bytes{std::min<std::int64_t>(leading_count(field(row, "MEMORY")), 1'000'000'000) << 20};
  for (const std::string_view feature : split_at(features_of_row(row), ',')) {
    if (feature != "(null)" && !feature.empty()) record.features.emplace_back(feature.substr(0, 200));
  }
  const bool is_up = field(row, "AVAIL").empty() || field(row, "AVAIL") == "up";
  if (is_up) record.partitions.push_back(partition_of_row(row));
  return record;
}

/// Returns whether GPUs stand among the features, as in "amd,epyc,mi100", and no column tells how many a node
/// has.
bool hides_gpus(const std::vector<TableRow>& rows) {
  std::set<std::string> words;
  for (const TableRow& row : rows) {
    if (row.contains("GRES")) return false;
    for (const std::string_view word : split_at(features_of_row(row), ',')) {
      if (words.size() < kMostFeatureWords) words.insert(std::string(word.substr(0, 200)));
    }
  }
  return !gpu_names_among({words.begin(), words.end()}).empty();
}

}  // namespace

bool is_slurm_table(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (is_sinfo_heading(words_of(line.text, 40))) return true;
  }
  return false;
}

Machine read_slurm_table(const SourceText& source, Diagnostics& diagnostics) {
  const SinfoTable table = sinfo_table_of(source.text);
  if (table.rows.empty()) {
    diagnostics.report({std::max(1, table.heading), 1, 1}, "no line of sinfo stands below its heading",
                       "sinfo -o \"%P %l %D %G %c %m %N\" prints what is read");
    return {};
  }
  std::vector<NodeRecord> records;
  std::size_t names_left = kMostHostNames;
  for (const TableRow& row : table.rows) records.push_back(record_of_row(row, table.heading, names_left));
  Machine machine = machine_of_records(records, source.name, BatchSystem::slurm);
  const auto has_none = [](const TableRow& row) {
    return row.contains("GRES") && gpus_of_row(row).count == 0;
  };
  machine.has_no_gpu = machine.gpu_count == 0 && std::ranges::all_of(table.rows, has_none);
  if (hides_gpus(table.rows))
    diagnostics.report({table.heading, 1, 1},
                       "GPUs stand among the features, and no column says how many a node has (GRES)",
                       "sinfo -o \"%P %a %l %D %G %z %m %f %N\" prints them");
  if (table.left_out > 0)
    machine.remarks.push_back(fmt::format("{} of sinfo with fewer fields than the heading",
                                          counted(static_cast<std::int64_t>(table.left_out), "line")));
  return machine;
}

}  // namespace foretrain

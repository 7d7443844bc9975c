// Lists the commands that would settle the assumptions in a cluster file. The file's own comments are the
// source: a line marked "# assumed" leads to the command that prints its value.
#include "sim/import/pasted/cluster_questions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// A key that may be assumed, with the command for it. Rows are in the order of what another value does to a
/// step, as docs/tutorials/paste.md measures it.
/// Table of the cluster file, and key within it.
struct AssumedKey {
  std::string_view section, key;
  // Begin of the value; empty: any value.
  std::string_view value;
  // Purpose of the command, for users, and the command itself.
  std::string_view settles, command;
};

// Commands that several rows name.
constexpr std::string_view kSinfo = "sinfo -o \"%P %l %D %G %c %m\"";
constexpr std::string_view kCalibrate = "foretrain calibrate machine --budget 8m -o FOLDER";

constexpr AssumedKey kAssumedKeys[] = {
    {"[node]", "gpu", "", "which GPU it is", "nvidia-smi -L"},
    {"[node]", "gpus", "", "how many GPUs a node has", "nvidia-smi -L"},
    {"[fabric]", "link", "\"eth", "the rate of the network's port", "ethtool INTERFACE"},
    {"[fabric]", "link", "", "the network between nodes", "ibstat"},
    {"[[node.links]]", "link", "\"nvlink", "which GPUs NVLinks join", "nvidia-smi topo -m"},
    {"[[node.links]]", "link", "\"xgmi_mi", "which GPUs are joined", "rocm-smi --showtopo"},
    {"[node]", "cpus", "", "where the GPUs hang", "nvidia-smi topo -m"},
    {"[[node.links]]", "link", "\"pcie", "generation and lanes of PCIe", "sudo lspci -vv"},
    {"[node]", "peer_access", "", "whether GPUs reach each other's memory", "nvidia-smi topo -p2p r"},
    {"[node.host]", "slowdown", "", "speed of a core", kCalibrate},
    {"", "nodes", "", "how many nodes there are", kSinfo},
    {"[node.host]", "cores", "", "cores of a node", "lscpu"},
    {"[node.host]", "family", "", "its processor", "lscpu"},
    {"[fabric]", "kind", "", "switches between nodes", "ibnetdiscover"},
    {"[fabric]", "uplinks_per_leaf", "", "links between switches", "ibnetdiscover"},
    {"[node.host]", "memory", "", "memory of a node", kSinfo},
    {"[node.host]", "memory_bandwidth", "", "copies in the host's memory", kCalibrate},
    {"[fabric]", "switch_latency", "", "latency of a switch", kCalibrate},
};
constexpr std::size_t kAssumedKeyCount = std::size(kAssumedKeys);

/// Returns the row for an assumed line; kAssumedKeyCount where there is none. The first row whose value fits
/// is taken, so rows with a value stand before those without.
std::size_t row_of_key(std::string_view section, std::string_view key, std::string_view value) {
  const auto found = std::ranges::find_if(kAssumedKeys, [&](const AssumedKey& row) {
    return row.section == section && row.key == key && value.starts_with(row.value);
  });
  return static_cast<std::size_t>(found - std::begin(kAssumedKeys));
}

}  // namespace

std::vector<ClusterQuestion> cluster_questions(std::string_view cluster_toml) {
  std::vector<std::size_t> rows;
  std::string section;
  LogLines lines(cluster_toml);
  for (LogLine line; lines.next(line);) {
    const std::string_view text = trimmed(line.text);
    if (text.starts_with('[')) section = std::string(text.substr(0, text.find('#')));
    section = std::string(trimmed(section));
    // A line counts only where the mark is a comment behind the value.
    const std::size_t equals = text.find('='), comment = text.find("# assumed");
    if (equals == std::string_view::npos || comment == std::string_view::npos || comment < equals) continue;
    const std::size_t row =
        row_of_key(section, trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)));
    if (row < kAssumedKeyCount) rows.push_back(row);
  }
  // Rows are in the order of their effect, so sorted row numbers give the order of the questions.
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<ClusterQuestion> out;
  for (const std::size_t row : rows) {
    const AssumedKey& key = kAssumedKeys[row];
    // A command that settles several values is listed once, with all of them.
    const auto same = std::ranges::find(out, key.command, &ClusterQuestion::command);
    if (same != out.end())
      same->settles += fmt::format(", {}", key.settles);
    else if (out.size() < kMostQuestions)
      out.push_back({std::string(key.command), std::string(key.settles)});
  }
  return out;
}

}  // namespace foretrain

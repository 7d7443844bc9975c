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

namespace foretrain {

namespace {

constexpr std::size_t kMostNodeRecords = 100'000;

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

/// Values are read up to the next blank; what Slurm prints with blanks in it (OS=Linux 3.10 …) is none of
/// ours.
std::vector<SlurmNode> node_records(std::string_view text) {
  std::vector<SlurmNode> nodes;
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (line.text.starts_with("#") || line.text.starts_with("{%")) continue;
    for (const std::string_view word : words_of(line.text, 200)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view key = word.substr(0, equals);
      const bool begins = key == "NodeName" || (key == "Name" && !holds(line.text, "NodeName="));
      if (begins && nodes.size() < kMostNodeRecords) nodes.push_back({line.number, {}});
      if (!nodes.empty() && nodes.back().keys.size() < 200)
        nodes.back().keys.emplace(std::string(key), value_of_word(word.substr(equals + 1, 4000)));
    }
  }
  return nodes;
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

/// Lines of gres.conf that name no node are of the node that the file lies on: their GPUs add up.
int gpus_of_own_node(const std::vector<SlurmNode>& nodes) {
  int count = 0;
  for (const SlurmNode& node : nodes) count += node.text("NodeName").empty() ? gpus_of_node(node).count : 0;
  return std::clamp(count, 0, 1000);
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

/// The record with most GPUs describes the node; as many nodes as have as many of the same kind.
Machine read_slurm_nodes(const SourceText& source, Diagnostics& diagnostics) {
  const std::vector<SlurmNode> nodes = node_records(source.text);
  Machine machine;
  if (nodes.empty()) {
    // AutoDetect=nvml alone: Slurm asks the driver.
    if (holds(source.text, "AutoDetect=")) return machine.place = {source.name, 1}, machine;
    diagnostics.report({1, 1, 1}, "no record begins with NodeName= or Name=");
    return machine;
  }
  const auto count = [](const SlurmNode& node) { return gpus_of_node(node).count; };
  const SlurmNode& node = *std::ranges::max_element(nodes, {}, count);
  const GpuRequest gpus = gpus_of_node(node);
  machine.place = {source.name, node.line};
  machine.gpu_count = std::max(std::clamp(gpus.count, 0, 1000), gpus_of_own_node(nodes));
  machine.gpu_product = gpus.type;
  machine.site.system = BatchSystem::slurm;
  machine.site.gpu_type = gpus.type;
  machine.has_no_gpu =
      machine.gpu_count == 0 && !is_template(source.text) && std::ranges::all_of(nodes, denies_gpus);
  if (is_template(source.text))
    machine.remarks.push_back("a template: what it has yet to fill in is not said; give the file it makes");
  const int boards = std::max(node.number("Boards", 1), 1);
  machine.sockets = node.number("Sockets", node.number("SocketsPerBoard", 0) * boards);
  machine.cores = static_cast<int>(
      std::min<std::int64_t>(std::int64_t{machine.sockets} * node.number("CoresPerSocket", 0), 100'000));
  machine.memory = Bytes{std::int64_t{node.number("RealMemory", 0)} << 20};
  for (const SlurmNode& other : nodes) {
    const GpuRequest same = gpus_of_node(other);
    if (same.count == gpus.count && same.type == gpus.type)
      machine.fabric.nodes += count_of_names(other.text("NodeName"));
  }
  return machine;
}

}  // namespace foretrain

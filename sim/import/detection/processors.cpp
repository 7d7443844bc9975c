// Reads /sys/devices/system/node and cpu, /proc/cpuinfo and /proc/meminfo.
// The formats are in the kernel's Documentation/ABI/stable/sysfs-devices-node, sysfs-devices-system-cpu, and
// in proc(5).
#include "sim/import/detection/processors.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

const std::string kCpuFolder = "sys/devices/system/cpu/", kNodeFolder = "sys/devices/system/node/";
/// Limit of cores, against a copy of files that makes no sense.
constexpr int kMostCores = 100'000;

/// Returns the number behind a prefix: "node12" gives 12 for "node", and "online" gives none.
std::optional<int> numbered_entry(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto number = integer_of(name.substr(prefix.size()));
  return number && *number >= 0 && *number < 1'000'000 ? std::optional(static_cast<int>(*number))
                                                       : std::nullopt;
}

/// Returns the first value of "key : value" in /proc/cpuinfo or meminfo, at most 200 bytes; empty when no
/// line has the key.
std::string value_of_key(const std::string& text, std::string_view key) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const std::size_t colon = line.text.find(':');
    if (colon != std::string::npos && trimmed(std::string_view(line.text).substr(0, colon)) == key)
      return std::string(trimmed(std::string_view(line.text).substr(colon + 1))).substr(0, 200);
  }
  return "";
}

/// Returns the generation of an Intel processor of family 6 by its model number: Broadwell-EP is 79,
/// Skylake-SP 85, Ice Lake 106,
/// Sapphire Rapids 143, Emerald Rapids 207 (the kernel's arch/x86/include/asm/intel-family.h). Numbers
/// between two count as the older.
HostFamily intel_family(int model) {
  if (model >= 207) return HostFamily::intel_emerald_rapids;
  if (model >= 143) return HostFamily::intel_sapphire_rapids;
  return model < 85 ? HostFamily::intel_broadwell : HostFamily::intel_skylake;
}

/// Returns the family of the processors; no value for makers that the model does not know.
std::optional<HostFamily> family_in(const std::string& cpuinfo) {
  const std::string vendor = value_of_key(cpuinfo, "vendor_id");
  const auto model =
      std::clamp<std::int64_t>(integer_of(value_of_key(cpuinfo, "model")).value_or(-1), -1, 10'000);
  if (const auto family = x86_family(vendor, static_cast<int>(model))) return family;
  if (value_of_key(cpuinfo, "cpu").starts_with("POWER")) return HostFamily::power9;
  if (!value_of_key(cpuinfo, "CPU implementer").empty()) return HostFamily::arm;
  return std::nullopt;
}

/// Counts cores and packages. Threads of a core share the list of its threads, so distinct lists are counted.
void count_cores(Machine& machine, const FileTree& tree) {
  std::set<std::string> cores, packages;
  for (const std::string& name : tree.entries(kCpuFolder)) {
    if (!numbered_entry(name, "cpu")) continue;
    const std::string topology = kCpuFolder + name + "/topology/";
    std::string threads = tree.text(topology + "core_cpus_list");
    // Linux up to 5.x has only this name of the file.
    if (threads.empty()) threads = tree.text(topology + "thread_siblings_list");
    // A processor that is offline has no topology.
    if (threads.empty()) continue;
    cores.insert(std::move(threads));
    packages.insert(tree.text(topology + "physical_package_id"));
  }
  machine.cores = std::min(static_cast<int>(cores.size()), kMostCores);
  machine.sockets = static_cast<int>(packages.size());
}

/// Returns the memory in bytes. /proc/meminfo gives KiB: "MemTotal:  263856396 kB".
Bytes memory_of(const FileTree& tree) {
  const std::string total = value_of_key(tree.text("proc/meminfo"), "MemTotal");
  const Words words = words_of(total, 2);
  // A value without its unit is not trusted.
  const std::int64_t kibibytes = words.size() == 2 ? integer_of(words[0]).value_or(0) : 0;
  return Bytes{std::clamp<std::int64_t>(kibibytes, 0, std::int64_t{1} << 40) << 10};
}

}  // namespace

std::optional<HostFamily> x86_family(std::string_view vendor, int model) {
  constexpr int kSkylake = 85;
  if (vendor == "AuthenticAMD" || vendor == "HygonGenuine") return HostFamily::amd;
  if (vendor == "GenuineIntel") return intel_family(model < 0 ? kSkylake : model);
  return std::nullopt;
}

std::map<int, int> add_processors(Machine& machine, const FileTree& tree) {
  std::map<int, int> part_of_node;
  std::set<int> nodes;
  for (const std::string& name : tree.entries(kNodeFolder)) {
    // The memory of a GPU or of a memory expander is a node without CPUs.
    if (const auto number = numbered_entry(name, "node");
        number && !tree.text(kNodeFolder + name + "/cpulist").empty())
      nodes.insert(*number);
  }
  // A kernel without NUMA has no such folder; it is a machine with one node.
  if (nodes.empty()) nodes.insert(0);
  for (const int node : nodes) {
    part_of_node[node] = static_cast<int>(machine.parts.size());
    machine.parts.push_back({PartKind::socket, -1});
  }
  count_cores(machine, tree);
  machine.memory = memory_of(tree);
  const std::string cpuinfo = tree.text("proc/cpuinfo");
  machine.family = family_in(cpuinfo);
  machine.cpu_model = value_of_key(cpuinfo, "model name");
  // POWER has no "model name" but "cpu".
  if (machine.cpu_model.empty()) machine.cpu_model = value_of_key(cpuinfo, "cpu");
  return part_of_node;
}

}  // namespace foretrain

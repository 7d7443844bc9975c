// Reads lscpu: model, family, sockets and cores of a node.
//
//   Architecture:        x86_64
//   CPU(s):              128
//   Core(s) per socket:  32
//   Model name:          AMD EPYC 7543 32-Core Processor
//
// Caches, flags and NUMA nodes are skipped. A list without a number of cores is reported.
#include <algorithm>

#include "sim/base/ascii.hpp"
#include "sim/import/detection/processors.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"

namespace foretrain {

namespace {

/// Largest numbers that are believed.
constexpr std::int64_t kMostListedSockets = 1000, kMostListedCores = 100'000;

/// Values of the list as printed; 0, or -1 for the model: not there.
struct ListedProcessor {
  int line = 0;
  std::string vendor, model_name, architecture;
  std::int64_t model = -1, sockets = 0, cores_per_socket = 0, threads_per_core = 0, cpus = 0;
};

/// Takes one line. The first value of each key counts, because lists of two nodes may stand in one text.
void take_processor_key(ListedProcessor& out, std::string_view key, std::string_view value, int line) {
  const auto text = [&](std::string& field) {
    if (field.empty()) field = std::string(value.substr(0, 200));
  };
  const auto number = [&](std::int64_t& field) {
    if (field <= 0) field = std::clamp<std::int64_t>(integer_of(value).value_or(0), 0, kMostListedCores);
  };
  if (key == "Architecture") text(out.architecture);
  if (key == "Vendor ID") text(out.vendor);
  if (key == "Model name") text(out.model_name);
  if (key == "Model" && out.model < 0) out.model = integer_of(value).value_or(-1);
  if (key == "Socket(s)") number(out.sockets);
  if (key == "Core(s) per socket") number(out.cores_per_socket);
  if (key == "Thread(s) per core") number(out.threads_per_core);
  if (key == "CPU(s)") {
    if (out.line == 0) out.line = line;
    number(out.cpus);
  }
}

/// Returns the maker as /proc/cpuinfo names it, from the vendor or from the model's name.
std::string maker_of_processor(const ListedProcessor& cpu) {
  if (!cpu.vendor.empty()) return cpu.vendor;
  if (holds(cpu.model_name, "AMD")) return "AuthenticAMD";
  return holds(cpu.model_name, "Intel") ? "GenuineIntel" : "";
}

/// Returns the family of processors by which host times are known; nothing for others.
std::optional<HostFamily> family_of_processor(const ListedProcessor& cpu) {
  if (cpu.model_name.starts_with("POWER") || cpu.architecture.starts_with("ppc64")) return HostFamily::power9;
  if (cpu.architecture == "aarch64") return HostFamily::arm;
  return x86_family(maker_of_processor(cpu),
                    static_cast<int>(std::clamp<std::int64_t>(cpu.model, -1, 10'000)));
}

}  // namespace

bool is_processor_list(std::string_view text) {
  return holds(text, "Core(s) per socket:") || (holds(text, "Architecture:") && holds(text, "CPU(s):"));
}

Machine read_processor_list(const SourceText& source, Diagnostics& diagnostics) {
  ListedProcessor cpu;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    const std::size_t colon = line.text.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view text = line.text;
    take_processor_key(cpu, trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1)), line.number);
  }
  Machine machine;
  machine.place = {source.name, std::max(cpu.line, 1)};
  const std::int64_t sockets = std::clamp<std::int64_t>(cpu.sockets, 1, kMostListedSockets);
  const std::int64_t cores = cpu.cores_per_socket > 0
                                 ? sockets * cpu.cores_per_socket
                                 : cpu.cpus / std::max<std::int64_t>(cpu.threads_per_core, 1);
  if (cores == 0)
    diagnostics.report({machine.place.line, 1, 1}, "lscpu tells no number of cores here",
                       "the list was cut: paste the lines CPU(s), Core(s) per socket and Socket(s)");
  machine.cores = static_cast<int>(std::min(cores, kMostListedCores));
  machine.sockets = cpu.sockets > 0 ? static_cast<int>(sockets) : 0;
  machine.cpu_model = cpu.model_name;
  machine.family = family_of_processor(cpu);
  return machine;
}

}  // namespace foretrain

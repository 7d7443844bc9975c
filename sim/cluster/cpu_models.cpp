// Names are compared word by word, without the words that makers and lscpu add: (R), CPU, 64-Core Processor.
#include "sim/cluster/cpu_models.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/base/ascii.hpp"

namespace foretrain {

namespace {

constexpr CpuModel kCpuModels[] = {
#define CPU_MODEL(...) {__VA_ARGS__},
#include "sim/cluster/cpu_models.inc"
#undef CPU_MODEL
};

/// Memory bandwidth in GB/s per core of a CPU that the catalog lacks. Servers of the last ten years have from
/// 3.2 (EPYC of 64 cores) to 7 (Xeon of 20). Assumed.
constexpr double kGbpsPerCore = 4;
constexpr int kMostSockets = 16;

/// Returns the words in small letters with single spaces around them: "AMD EPYC(TM) 7742 64-Core Processor"
/// gives " amd epyc 7742 64-core processor ".
std::string plain_words(std::string_view text) {
  std::string out = " ";
  for (const char c : lower_case(text)) out += c == '(' || c == ')' || c == ',' || c == '\t' ? ' ' : c;
  out += ' ';
  for (const std::string_view word : {" r ", " tm ", " cpu "}) {
    for (std::size_t at = out.find(word); at != std::string::npos; at = out.find(word))
      out.replace(at, word.size(), " ");
  }
  const auto is_double = [](char a, char b) { return a == ' ' && b == ' '; };
  out.erase(std::unique(out.begin(), out.end(), is_double), out.end());
  return out;
}

/// Returns the number of sockets in front of the name, such as 2 in "2x AMD EPYC 7742"; 0 if there is none.
int stated_sockets(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  const bool counts = digits != std::string_view::npos && digits > 0 && digits < 3 && text[digits] == 'x';
  return counts ? std::stoi(std::string(text.substr(0, digits))) : 0;
}

}  // namespace

std::span<const CpuModel> cpu_models() { return kCpuModels; }

const CpuModel* find_cpu(std::string_view text) {
  const std::string words = plain_words(text);
  const CpuModel* best = nullptr;
  for (const CpuModel& row : kCpuModels) {
    const bool is_named = words.find(plain_words(row.name)) != std::string::npos;
    if (is_named && (best == nullptr || row.name.size() > best->name.size())) best = &row;
  }
  return best;
}

HostProcessors processors_of(const Host& host) {
  HostProcessors out;
  out.model = find_cpu(host.cpu);
  out.cores = std::max(1, host.cores);
  const int stated = stated_sockets(host.cpu);
  if (out.model == nullptr) {
    out.sockets = std::clamp(stated == 0 ? 1 : stated, 1, kMostSockets);
    out.memory_bandwidth = {kGbpsPerCore * 1e9 * out.cores};
    return out;
  }
  const double filled = std::round(static_cast<double>(out.cores) / out.model->cores);
  out.sockets = std::clamp(stated == 0 ? static_cast<int>(filled) : stated, 1, kMostSockets);
  out.all_ghz = out.model->all_ghz;
  out.memory_bandwidth = {out.model->memory_gbps * 1e9 * out.sockets};
  out.vector_bits = out.model->vector_bits;
  return out;
}

}  // namespace foretrain

// Values are read as man sbatch defines them. All products are bounded before they are computed.
#include "sim/import/jobs/slurm_values.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"

namespace foretrain {

namespace {

/// Limit of a count.
constexpr std::int64_t kMostCount = 1'000'000;

/// Says whether a text consists of digits alone.
bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Returns the seconds of numbers with colons between them; the first one counts `unit` seconds, and each
/// further one a sixtieth of that.
std::optional<std::int64_t> clock_time(std::string_view text, std::int64_t unit) {
  std::int64_t total = 0;
  for (const std::string_view part : split_at(text, ':')) {
    const auto number = is_number(part) ? whole_number(part) : std::nullopt;
    // A unit of 0 means that there are more parts than units.
    if (!number || *number > kMostCount * 100 || unit == 0) return std::nullopt;
    total += *number * unit;
    unit /= 60;
  }
  return total;
}

/// Reads one entry of a list: "gpu:a100:4", "gpu:2" or "gpu"; of --gpus "a100:4" or "4". Sockets in
/// parentheses are ignored.
GpuRequest one_entry(std::string_view entry, bool is_gres) {
  GpuRequest out;
  if (entry.starts_with("gres/")) entry.remove_prefix(5);
  entry = entry.substr(0, entry.find('('));
  auto parts = split_at(entry, ':');
  // Generic resources other than GPUs, such as nvme, are no request for GPUs.
  if (is_gres) {
    if (lower_case(parts[0]) != "gpu") return out.none = true, out;
    parts.erase(parts.begin());
  }
  // "gpu" without a number is one GPU.
  if (parts.empty()) return out.count = 1, out;
  const bool has_count = slurm_count(parts.back()).has_value();
  if (parts.size() > 2 || (parts.size() == 2 && !has_count) || (!is_gres && !has_count)) {
    out.problem = "is no number of GPUs";
    return out;
  }
  out.count = has_count ? *slurm_count(parts.back()) : 1;
  if (parts.size() == 2 || !has_count) out.type = parts[0];
  return out;
}

}  // namespace

std::vector<std::string_view> split_at(std::string_view text, char sign) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(sign);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<int> slurm_count(std::string_view text) {
  std::int64_t factor = 1;
  if (!text.empty() && (text.back() == 'k' || text.back() == 'K')) factor = 1024, text.remove_suffix(1);
  const auto number = is_number(text) ? whole_number(text) : std::nullopt;
  if (!number || *number > kMostCount / factor) return std::nullopt;
  return static_cast<int>(*number * factor);
}

// A time without days is in minutes, unless it has two colons.
std::optional<std::int64_t> slurm_time(std::string_view text) {
  const std::string word = lower_case(text);
  if (word == "unlimited" || word == "infinite" || word == "-1") return 0;
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    const auto colons = std::count(text.begin(), text.end(), ':');
    return colons > 2 ? std::nullopt : clock_time(text, colons == 2 ? 3600 : 60);
  }
  // Days stand before a dash; what follows begins with hours.
  const std::string_view before = text.substr(0, dash);
  const std::int64_t days = is_number(before) ? whole_number(before).value_or(-1) : -1;
  const auto rest = clock_time(text.substr(dash + 1), 3600);
  if (days < 0 || days > kMostCount || !rest || std::count(text.begin(), text.end(), ':') > 2)
    return std::nullopt;
  return days * 86400 + *rest;
}

std::string slurm_time_text(std::int64_t seconds) {
  const std::int64_t days = seconds / 86400;
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
  return days > 0 ? fmt::format("{}-{}", days, clock) : clock;
}

std::optional<MemoryRequest> slurm_memory(std::string_view text) {
  static constexpr std::string_view kUnits = "KMGT";
  // The default unit is MiB, 1024 to the power of 2.
  int power = 2;
  if (text.size() > 1 && (text.back() == 'B' || text.back() == 'b')) text.remove_suffix(1);
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0) {
    const std::size_t unit =
        kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
    if (unit == std::string_view::npos) return std::nullopt;
    power = static_cast<int>(unit) + 1;
    text.remove_suffix(1);
  }
  const auto number = is_number(text) ? whole_number(text) : std::nullopt;
  if (!number || *number > (std::int64_t{1} << (60 - 10 * power))) return std::nullopt;
  // --mem=0 asks for all memory of the node.
  if (*number == 0) return MemoryRequest{{}, true};
  return MemoryRequest{{*number << (10 * power)}, false};
}

GpuRequest slurm_gpus(std::string_view text, bool is_gres) {
  GpuRequest out;
  out.none = true;
  for (const std::string_view entry : split_at(text, ',')) {
    const GpuRequest one = one_entry(entry, is_gres);
    if (!one.problem.empty()) return one;
    if (one.none) continue;
    // A request for several types has no single kind of node.
    if (!out.none && (one.type != out.type)) {
      out.problem = "asks for GPUs of several types";
      return out;
    }
    out.none = false;
    out.type = one.type;
    out.count += one.count;
  }
  return out;
}

// The limit of jobs that run at once, behind "%", does not change their number.
std::optional<int> slurm_array(std::string_view text) {
  text = text.substr(0, text.find('%'));
  std::int64_t jobs = 0;
  for (const std::string_view part : split_at(text, ',')) {
    const std::size_t colon = part.find(':'), dash = part.find('-');
    const auto from = slurm_count(part.substr(0, std::min(dash, colon)));
    const auto step =
        colon == std::string_view::npos ? std::optional<int>(1) : slurm_count(part.substr(colon + 1));
    const auto to =
        dash == std::string_view::npos
            ? from
            : slurm_count(part.substr(dash + 1, colon == std::string_view::npos ? colon : colon - dash - 1));
    if (!from || !to || !step || *step == 0 || *to < *from) return std::nullopt;
    // The ends belong to the range.
    jobs += (*to - *from) / *step + 1;
  }
  if (jobs > kMostCount) return std::nullopt;
  return static_cast<int>(jobs);
}

// A slice is named by its compute slices and its memory, such as "1g.5gb".
bool is_slice(std::string_view gpu_type) {
  const std::size_t at = gpu_type.find("g.");
  return at != std::string_view::npos && at > 0 &&
         std::isdigit(static_cast<unsigned char>(gpu_type[at - 1])) != 0 &&
         gpu_type.find("gb", at) != std::string_view::npos;
}

}  // namespace foretrain

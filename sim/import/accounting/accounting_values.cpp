// Values are bounded where they are read, so that sums and products of values stay finite.
// The number is checked by its characters first: Slurm prints neither signs nor exponents, so such text is a
// mistake in the file.
#include "sim/import/accounting/accounting_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// About 30 years, in seconds.
constexpr double kMostSeconds = 1e9;
/// An exabyte, in bytes.
constexpr double kMostBytes = 1e18;
/// Reads digits and at most one point; a sign, an exponent and "nan" are refused.
std::optional<double> plain_number(std::string_view text) {
  if (text.empty() || text.size() > 30 || text.find_first_not_of("0123456789.") != std::string_view::npos)
    return std::nullopt;
  return number_of(text);
}

/// Returns the power of 1024 that the first letter of a unit stands for, in either case; no value for other
/// letters.
std::optional<int> power_of(char letter) {
  constexpr std::string_view letters = "BKMGTP";
  const std::size_t place = letters.find(static_cast<char>(letter >= 'a' ? letter - 32 : letter));
  return place == std::string_view::npos ? std::nullopt : std::optional(static_cast<int>(place));
}

}  // namespace

std::optional<double> elapsed_seconds(std::string_view text) {
  text = trimmed(text);
  double days = 0;
  // The days come first and end at a dash: "2-03:04:05".
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto read = whole_count(text.substr(0, dash));
    if (!read) return std::nullopt;
    days = *read, text.remove_prefix(dash + 1);
  }
  // A single part is a duration only behind a dash; without a dash it is a bare number.
  const std::vector<std::string_view> parts = split_at(text, ':');
  if (parts.empty() || parts.size() > 3 || (parts.size() == 1 && dash == std::string_view::npos))
    return std::nullopt;
  double seconds = 0;
  for (const std::string_view part : parts) {
    const auto read = plain_number(part);
    if (!read) return std::nullopt;
    seconds = 60 * seconds + *read;
  }
  // "1-12" and "1-12:30" are days and hours, and minutes.
  if (dash != std::string_view::npos && parts.size() < 3) seconds *= parts.size() == 1 ? 3600 : 60;
  const double all = days * 86400 + seconds;
  return all <= kMostSeconds ? std::optional(all) : std::nullopt;
}

std::optional<double> limit_seconds(std::string_view text) {
  const std::string word = lower_case(trimmed(text.substr(0, 100)));
  if (word == "unlimited" || word == "infinite") return 0.0;
  return elapsed_seconds(text);
}

std::optional<double> memory_bytes(std::string_view text, double bare) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = plain_number(text.substr(0, end));
  if (!number) return std::nullopt;
  std::string_view unit = trimmed(text.substr(end));
  double bytes = *number * bare;
  // "c" and "n" say that the amount is of one core or one node; the caller multiplies.
  if (unit.ends_with('c') || unit.ends_with('n')) unit.remove_suffix(1);
  if (!unit.empty()) {
    const auto power = power_of(unit.front());
    if (!power) return std::nullopt;
    bytes = *number * std::pow(1024.0, *power);
    // The letter may be followed by "B" or "iB": "GB" and "GiB" are both powers of 1024 here.
    unit.remove_prefix(1);
    if (unit.starts_with('i')) unit.remove_prefix(1);
    if (*power > 0 && unit.starts_with('B')) unit.remove_prefix(1);
    if (!unit.empty()) return std::nullopt;
  }
  return bytes <= kMostBytes ? std::optional(bytes) : std::nullopt;
}

std::optional<double> percent_share(std::string_view text, double most) {
  text = trimmed(text);
  if (text.ends_with('%')) text = trimmed(text.substr(0, text.size() - 1));
  const auto number = plain_number(text);
  if (!number || *number > most) return std::nullopt;
  return std::min(*number / 100, 1.0);
}

std::optional<int> whole_count(std::string_view text) {
  text = trimmed(text);
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value < 0 || value > 100'000'000)
    return std::nullopt;
  return value;
}

std::map<std::string, std::string, std::less<>> resource_list(std::string_view text) {
  std::map<std::string, std::string, std::less<>> out;
  for (const std::string_view part : split_at(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || out.size() >= 200) continue;
    out.emplace(lower_case(trimmed(part.substr(0, equals))), trimmed(part.substr(equals + 1)));
  }
  return out;
}

ListedGpus listed_gpus(const std::map<std::string, std::string, std::less<>>& resources) {
  ListedGpus out;
  // A list may hold the total ("gres/gpu=4") and the same GPUs by type ("gres/gpu:v100=4"), so the total
  // wins.
  int typed = 0;
  for (const auto& [name, amount] : resources) {
    const auto count = whole_count(amount);
    if (!count) continue;
    if (name == "gres/gpu") out.count = count;
    if (!name.starts_with("gres/gpu:")) continue;
    // The bound keeps a long list of large amounts from overflowing.
    typed = std::min(typed + *count, 100'000'000);
    out.type = out.type.empty() ? name.substr(9) : out.type + "+" + name.substr(9);
  }
  if (!out.count && !out.type.empty()) out.count = typed;
  return out;
}

}  // namespace foretrain

// These functions read values as Slurm's accounting and the tools around it print them: durations, amounts of
// memory, percentages and lists of resources.
// Every function returns no value for text that it cannot read; none of them throws. The callers report the
// mistake with its place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

/// Reads a duration in the form [days-][[hours:]minutes:]seconds[.fraction], for example "1-02:30:00" or
/// "05:32.123".
/// Returns seconds, at most 10^9 (about 30 years). A bare number without colon or dash, a sign ("-1:00") and
/// "nan" are no durations.
std::optional<double> elapsed_seconds(std::string_view text);

/// Reads a time limit in seconds. UNLIMITED and INFINITE, in any case, are 0; all else is read by
/// elapsed_seconds.
std::optional<double> limit_seconds(std::string_view text);

/// Reads an amount of memory such as "180000M", "4Gn", "187.50 GB", "39.06 GiB" or "123456K" and returns
/// bytes, at most 10^18.
/// Units are powers of 1024, as Slurm and seff count. A number without a unit is multiplied by `bare` bytes.
/// A final "c" (of each core) or "n" (of each node) is accepted and ignored: the caller multiplies.
std::optional<double> memory_bytes(std::string_view text, double bare = 1);

/// The largest percentage that is accepted: tools round, and samples of several processes add up.
inline constexpr double kMostPercent = 110;
/// The largest efficiency of CPUs that is accepted. Slurm counts cores, and a core of up to eight hardware
/// threads (POWER) may report the time of each of them.
inline constexpr double kMostCpuPercent = 800;

/// Reads a percentage such as "92.18", "92%" or "92.18 %" and returns a share of 0..1. Values from 100 % to
/// `most` become 1.
std::optional<double> percent_share(std::string_view text, double most = kMostPercent);

/// Reads a whole number from 0 to 10^8. Signs, blanks inside and trailing text are not accepted.
std::optional<int> whole_count(std::string_view text);

/// Cuts a list such as "cpu=40,gres/gpu:v100=4,mem=180000M" into names in lower case and amounts as written.
/// Parts without "=" are skipped, and of repeated names the first counts. At most 200 entries are kept.
std::map<std::string, std::string, std::less<>> resource_list(std::string_view text);

/// The number of GPUs in a list of resources, and their type where an entry such as "gres/gpu:v100" names
/// one.
struct ListedGpus {
  /// The entry "gres/gpu", else the sum of the typed entries; no value when the list has neither.
  std::optional<int> count;
  /// Types in alphabetical order, joined by "+"; empty when the list names none.
  std::string type;
};
/// Finds the GPUs of a list that resource_list returned.
ListedGpus listed_gpus(const std::map<std::string, std::string, std::less<>>& resources);

}  // namespace foretrain

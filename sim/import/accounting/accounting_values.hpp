// Values as Slurm's accounting and the tools around it print them: durations, amounts of memory, shares,
// lists of resources.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

/// Seconds of [days-][[hours:]minutes:]seconds[.fraction], up to 30 years; nothing for what is none of
/// these. "-1:00" and "nan" are none.
std::optional<double> elapsed_seconds(std::string_view text);

/// The same for a limit: 0 for UNLIMITED.
std::optional<double> limit_seconds(std::string_view text);

/// Bytes of "180000M", "4Gn", "187.50 GB", "39.06 GiB", "123456K"; powers of two, as Slurm and seff count. A
/// bare number is of `bare` bytes each. Up to 10^18.
std::optional<double> memory_bytes(std::string_view text, double bare = 1);

/// 0..1 of "92.18", "92%" or "92.18 %", which may exceed 100 by rounding.
std::optional<double> percent_share(std::string_view text);

/// Whole numbers from 0 to 10^8.
std::optional<int> whole_count(std::string_view text);

/// Names and amounts of "cpu=40,gres/gpu:v100=4,mem=180000M"; the amounts as written. At most 200.
std::map<std::string, std::string, std::less<>> resource_list(std::string_view text);

/// GPUs of such a list, and their type where it says one.
struct ListedGpus {
  std::optional<int> count;
  std::string type;
};
ListedGpus listed_gpus(const std::map<std::string, std::string, std::less<>>& resources);

}  // namespace foretrain

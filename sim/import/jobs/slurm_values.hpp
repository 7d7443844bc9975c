// Reads the values of Slurm's options: counts, times, memory, generic resources and arrays.
// All functions return no value, or a problem in words, for texts that Slurm does not accept; none of them
// throws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Reads a count such as "4", or "4k" for 4096. At most 10^6.
std::optional<int> slurm_count(std::string_view text);
/// Returns the seconds of "m", "m:s", "h:m:s", "d-h", "d-h:m" or "d-h:m:s"; 0 for "unlimited" and "infinite".
std::optional<std::int64_t> slurm_time(std::string_view text);
/// Returns a time as squeue prints it, h:m:s or d-h:m:s. slurm_time() reads it back.
std::string slurm_time_text(std::int64_t seconds);
/// Reads an amount of memory such as "64G" or "500000" (in MiB); "0" stands for all of the node's memory.
/// Units K, M, G and T are powers of 1024.
std::optional<MemoryRequest> slurm_memory(std::string_view text);

/// The GPUs of an option such as --gres=gpu:a100:4,nvme:200, --gpus-per-node=a100:2 or --gpus=4.
struct GpuRequest {
  int count = 0;
  /// Type of GPU; empty for any.
  std::string type;
  /// True for a list without GPUs.
  bool none = false;
  /// The problem in words; empty when the option can be read.
  std::string problem;
};
/// Reads the GPUs of an option. `is_gres` says that entries of other kinds may stand beside them and that
/// GPUs begin with "gpu".
GpuRequest slurm_gpus(std::string_view text, bool is_gres);

/// Returns the number of jobs in an array such as "1-10%2", "0-15:4" or "1,3,5-7"; at most 10^6.
std::optional<int> slurm_array(std::string_view text);

/// Says whether a type of GPU is a MIG slice, such as "a100_1g.5gb".
bool is_slice(std::string_view gpu_type);

/// Cuts a text at every occurrence of a sign. An empty text gives one empty part.
std::vector<std::string_view> split_at(std::string_view text, char sign);

}  // namespace foretrain

// Values of Slurm's options: counts, times, memory, generic resources, arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// "4"; also "4k" as Slurm allows. At most a million.
std::optional<int> slurm_count(std::string_view text);
/// Seconds of m, m:s, h:m:s, d-h, d-h:m, d-h:m:s; 0 for unlimited and infinite.
std::optional<std::int64_t> slurm_time(std::string_view text);
/// h:m:s or d-h:m:s, as squeue prints times; slurm_time() reads it back.
std::string slurm_time_text(std::int64_t seconds);
/// "64G", "500000" (MB), "0" (all of the node); K, M, G, T are powers of two, as Slurm has them.
std::optional<MemoryRequest> slurm_memory(std::string_view text);

/// GPUs of --gres=gpu:a100:4,nvme:200, --gpus-per-node=a100:2, --gpus=4. `is_gres`: entries of other kinds
/// may stand beside.
struct GpuRequest {
  int count = 0;
  std::string type;     ///< empty: any
  bool none = false;    ///< a list without GPUs
  std::string problem;  ///< not empty: what is wrong
};
GpuRequest slurm_gpus(std::string_view text, bool is_gres);

/// Number of jobs of "1-10%2", "0-15:4", "1,3,5-7".
std::optional<int> slurm_array(std::string_view text);

/// "a100_1g.5gb": a part of a GPU.
bool is_slice(std::string_view gpu_type);

std::vector<std::string_view> split_at(std::string_view text, char sign);

}  // namespace foretrain

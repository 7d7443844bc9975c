// The data set, and the way in which its batches reach the GPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/cluster/storage.hpp"

namespace foretrain {

/// The loader of batches. torch: worker processes of PyTorch's DataLoader. tf_data: threads of TensorFlow's
/// runtime. dali_cpu, dali_gpu: threads of NVIDIA DALI; with dali_gpu the GPU decodes. none: batches are on
/// the GPU already (benchmarks on synthetic data).
enum class LoaderKind : std::uint8_t { torch, tf_data, dali_cpu, dali_gpu, none };
inline constexpr std::array<std::string_view, 5> kLoaderNames{"torch", "tf_data", "dali_cpu", "dali_gpu",
                                                              "none"};
inline std::string_view name_of(LoaderKind kind) { return kLoaderNames[static_cast<std::size_t>(kind)]; }

/// A data set and what one sample of it costs: bytes on storage, bytes on the GPU, CPU time to decode. Zeros
/// and empty values mean unknown, as each member says.
struct DataSet {
  std::string name;          ///< name of the preset that it started from; empty = none
  std::int64_t samples = 0;  ///< per epoch over all ranks; 0 = unknown, epochs are then one step
  Bytes sample_bytes{};      ///< as copied to the GPU; 0 = the network's input in fp32 plus an 8-byte label
  Bytes stored_bytes{};      ///< read from storage per sample (a JPEG file); 0 = sample_bytes
  Time decode{};  ///< CPU time of reading, decoding and augmenting one sample on the reference core
  double decode_spread = 0;  ///< standard deviation of `decode` over samples, divided by the mean
  StorageKind storage = StorageKind::none;
  /// The node's page cache holds the set after the first epoch. Default: when the set fits into host memory.
  std::optional<bool> cached;
  LoaderKind loader = LoaderKind::torch;
  int workers_per_gpu = 4;   ///< processes (torch) or threads; 0: in the main thread
  int prefetch = 2;          ///< batches per worker (torch), batches (others)
  double cores_per_gpu = 0;  ///< CPU cores of the job per GPU; 0 = the node's cores divided by its GPUs
  bool per_process = false;  ///< workers and cores are of a process, however many GPUs it drives
  /// Returns the unit that workers_per_gpu count for.
  std::string_view worker_unit() const { return per_process ? "process" : "GPU"; }
  // pinned: page-locked batches. persistent_workers: they live over epochs. drop_last: a partial batch is
  // left out.
  bool pinned = true;
  bool persistent_workers = false;
  bool drop_last = false;
};

}  // namespace foretrain

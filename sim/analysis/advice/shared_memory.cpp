// PyTorch's DataLoader puts every batch that a worker has ready into a file of /dev/shm, and each worker
// keeps `prefetch` batches ready (torch.utils.data, prefetch_factor). Containers often have a small /dev/shm.
#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

Bytes loader_shared_memory(const Workload& workload, int processes) {
  const DataSet& data = workload.data;
  if (data.loader != LoaderKind::torch || data.workers_per_gpu < 1) return {};
  return batch_bytes(workload) * (std::int64_t{data.workers_per_gpu} * data.prefetch * processes);
}

std::string shared_memory_warning(Bytes have, const Workload& workload, int processes) {
  const Bytes needed = loader_shared_memory(workload, processes);
  if (needed.count <= have.count) return {};
  const std::string who = processes == 1 ? "one process" : fmt::format("each of {} processes", processes);
  return fmt::format("{} of /dev/shm is too small: {} has {}, which keep {} batches ready each, {} in all",
                     to_string(have), who, counted(workload.data.workers_per_gpu, "loader worker"),
                     workload.data.prefetch, to_string(needed));
}

}  // namespace foretrain

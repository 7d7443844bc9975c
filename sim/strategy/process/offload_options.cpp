// Offload: ranks of a node share its cores and its drives.
#include "sim/strategy/process/offload_options.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Rates of one server drive on PCIe 3, in bytes per second; assumed where the cluster states none.
constexpr double kAssumedDriveRead = 3.2e9, kAssumedDriveWrite = 2e9;

/// All ranks of the node use the drive at the same time.
double drive_s(const PlanRequest& request, double bytes, ByteRate stated, double assumed) {
  const double rate = stated.per_second > 0 ? stated.per_second : assumed;
  return bytes * ranks_of_own_node(request) / rate;
}

}  // namespace

std::vector<Knob> offload_knobs() {
  return {{"cpu_threads", option<&OffloadOptions::cpu_threads>(), "8",
           "1 under torchrun, one for each core of the node under deepspeed",
           "threads of a rank that update on the host (OMP_NUM_THREADS)", 1, 1024},
          {"bind_cores_to_rank", option<&OffloadOptions::bind_cores_to_rank>(), "true", "false",
           "each rank has its part of the node's cores (deepspeed --bind_cores_to_rank)"},
          {"pin_memory", option<&OffloadOptions::pin_memory>(), "false", "true",
           "buffers in host memory are page-locked, so that copies neither wait nor are staged"}};
}

int ranks_of_own_node(const PlanRequest& request) {
  const auto& ranks = request.placement.ranks;
  return static_cast<int>(std::count_if(
      ranks.begin(), ranks.end(), [&](const GpuPlace& rank) { return rank.node == ranks.front().node; }));
}

/// Order of precedence: stated threads, bound cores, the launcher's default.
int host_threads(const PlanRequest& request, int by_launcher) {
  const OffloadOptions& options = request.options<OffloadOptions>();
  if (options.cpu_threads) return *options.cpu_threads;
  if (options.bind_cores_to_rank)
    return std::max(1, request.own_node().host.cores / ranks_of_own_node(request));
  return by_launcher;
}

double drive_read_s(const PlanRequest& request, double bytes_of_rank) {
  return drive_s(request, bytes_of_rank, request.own_node().host.nvme_read, kAssumedDriveRead);
}

double drive_write_s(const PlanRequest& request, double bytes_of_rank) {
  return drive_s(request, bytes_of_rank, request.own_node().host.nvme_write, kAssumedDriveWrite);
}

const char* assumed_drive(const PlanRequest& request) {
  const Host& host = request.own_node().host;
  if (host.nvme_read.per_second > 0 && host.nvme_write.per_second > 0) return "";
  return "one drive that reads 3.2 GB/s and writes 2 GB/s is assumed: host.nvme_read and host.nvme_write";
}

}  // namespace foretrain

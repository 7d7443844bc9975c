// How a computing centre hands out a cluster: its batch system, partitions with their limits, and what an
// hour costs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"

namespace foretrain {

/// What hands out nodes. pbs: PBS Pro and OpenPBS; grid_engine: SGE, UGE, AGE and theirs; none: nobody does.
enum class BatchSystem : std::uint8_t { none, slurm, htcondor, pbs, lsf, grid_engine, flux, kubernetes };
inline constexpr std::array<std::string_view, 8> kBatchSystemNames{
    "none", "slurm", "htcondor", "pbs", "lsf", "grid_engine", "flux", "kubernetes"};
inline std::string_view name_of(BatchSystem system) {
  return kBatchSystemNames[static_cast<std::size_t>(system)];
}

/// With whom a job shares the network: nobody, other jobs of a computing centre, other tenants of a cloud.
enum class SiteKind : std::uint8_t { own, hpc, cloud };

/// What one job may ask of a partition. Zero is no limit beyond the cluster's own.
struct Partition {
  std::string name;
  int least_nodes = 0, least_gpus = 0;  ///< of a job
  int most_nodes = 0;                   ///< of a job
  int most_gpus = 0;                    ///< of a job
  Time longest{};                       ///< largest --time
  bool for_tests = false;               ///< short queue, not for production
  bool whole_nodes = false;             ///< a job gets and pays whole nodes
  std::vector<std::string> kinds{};     ///< names of the kinds of node it has; empty: all
  bool is_default = false;              ///< a job that names no partition gets this one
  SourceSpan span{};                    ///< in the cluster's file
};

/// What a job is charged, in the centre's own units.
struct Billing {
  std::string unit;  ///< "BU", "GPU-h"; empty: unknown
  double per_gpu_hour = 0, per_core_hour = 0, per_gib_hour = 0;
};

/// A computing centre: its partitions with node types, limits and prices, and the batch system that it uses.
struct Site {
  std::string name{};  ///< of the computing centre's machine, where several clusters are parts of it
  std::optional<SiteKind> kind;  ///< none: kind_of() tells
  BatchSystem system = BatchSystem::none;
  std::string gpu_type;  ///< as in --gres=gpu:TYPE:N; empty: without a type
  /// Features by which a job asks for these nodes, as in --constraint=gpu.
  std::vector<std::string> constraints;
  std::string requirements;  ///< HTCondor's require_gpus that selects these GPUs
  std::vector<Partition> partitions;
  Billing billing;
  double grid_g_per_kwh = 0;  ///< of CO2 for the electricity; 0: unknown
};

/// What the site says; else a computing centre where there is a batch system, a cloud where that is
/// Kubernetes.
inline SiteKind kind_of(const Site& site) {
  if (site.kind) return *site.kind;
  if (site.system == BatchSystem::kubernetes) return SiteKind::cloud;
  return site.system == BatchSystem::none ? SiteKind::own : SiteKind::hpc;
}

}  // namespace foretrain

// A computing centre as the owner of a cluster: its batch system, its partitions with their limits, and its
// prices.
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

/// The system that hands out nodes. pbs: PBS Pro and OpenPBS. grid_engine: SGE, UGE, AGE and related ones.
/// none: no system.
enum class BatchSystem : std::uint8_t { none, slurm, htcondor, pbs, lsf, grid_engine, flux, kubernetes };
inline constexpr std::array<std::string_view, 8> kBatchSystemNames{
    "none", "slurm", "htcondor", "pbs", "lsf", "grid_engine", "flux", "kubernetes"};
inline std::string_view name_of(BatchSystem system) {
  return kBatchSystemNames[static_cast<std::size_t>(system)];
}

/// The users with whom a job shares the network: nobody, other jobs of a computing centre, or other tenants
/// of a cloud.
enum class SiteKind : std::uint8_t { own, hpc, cloud };

/// The limits of a job in one partition. Zero means that only the cluster limits it.
struct Partition {
  std::string name;
  /// Smallest numbers of nodes and GPUs of a job.
  int least_nodes = 0, least_gpus = 0;
  /// Largest number of nodes of a job.
  int most_nodes = 0;
  /// Largest number of GPUs of a job.
  int most_gpus = 0;
  /// Largest --time.
  Time longest{};
  /// A short queue, not for production.
  bool for_tests = false;
  /// A job gets and pays whole nodes.
  bool whole_nodes = false;
  /// Names of the kinds of node that it has; empty: all.
  std::vector<std::string> kinds{};
  /// A job that names no partition gets this one.
  bool is_default = false;
  /// Place in the cluster's file.
  SourceSpan span{};
};

/// The charge of a job in the centre's own units.
struct Billing {
  /// "BU", "GPU-h"; empty: unknown.
  std::string unit;
  double per_gpu_hour = 0, per_core_hour = 0, per_gib_hour = 0;
};

/// A computing centre: its partitions with node types, limits and prices, and its batch system.
struct Site {
  /// Name of the centre's machine, if several clusters are parts of it.
  std::string name{};
  /// The kind as stated; none: kind_of() decides.
  std::optional<SiteKind> kind;
  BatchSystem system = BatchSystem::none;
  /// Type of GPU as in --gres=gpu:TYPE:N; empty: without a type.
  std::string gpu_type;
  /// Features by which a job requests these nodes, as in --constraint=gpu.
  std::vector<std::string> constraints;
  /// HTCondor's require_gpus that selects these GPUs.
  std::string requirements;
  std::vector<Partition> partitions;
  Billing billing;
  /// Grams of CO2 per kWh of electricity; 0: unknown.
  double grid_g_per_kwh = 0;
};

/// Returns the kind that the site states. Otherwise a batch system means a computing centre, Kubernetes a
/// cloud.
inline SiteKind kind_of(const Site& site) {
  if (site.kind) return *site.kind;
  if (site.system == BatchSystem::kubernetes) return SiteKind::cloud;
  return site.system == BatchSystem::none ? SiteKind::own : SiteKind::hpc;
}

}  // namespace foretrain

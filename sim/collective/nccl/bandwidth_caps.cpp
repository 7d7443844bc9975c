// Upper limits of bandwidths in NCCL's forecast, by version (docs/sources/nccl_tuning.md). Each limit has
// three columns: one node, two nodes, more nodes. Values are in GB/s.
#include <array>
#include <limits>

#include "sim/collective/nccl/era.hpp"
#include "sim/collective/nccl/tuning_tables.hpp"

namespace foretrain::nccl {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Limits for one node, two nodes and more nodes.
using Columns = std::array<double, 3>;

/// Limits that hold since a version.
struct CapEra {
  Version since;
  /// Limits by GpuClass.
  std::array<Columns, 4> rows;
};

constexpr Columns flat(double cap) { return {cap, cap, cap}; }

constexpr Columns kLlVolta{39, 39, 20.4}, kLlAmpere{87.7, 22.5, 19};
constexpr std::array<CapEra, 3> kLl{{
    {{2, 8, 0}, {kLlVolta, kLlAmpere, kLlAmpere, kLlAmpere}},
    {{2, 21, 0}, {kLlVolta, kLlAmpere, {141, 45, 35}, {141, 45, 35}}},
    {{2, 25, 0}, {kLlVolta, kLlAmpere, {141, 45, 35}, {282, 90, 70}}},
}};

constexpr std::array<CapEra, 5> kRingLl128{{
    {{2, 10, 0}, {flat(20), flat(20), flat(20), flat(20)}},
    {{2, 17, 0}, {flat(20), flat(20), flat(36.7), flat(36.7)}},
    {{2, 25, 0}, {flat(20), flat(20), flat(36.7), flat(73.4)}},
    {{2, 28, 0}, {flat(20), flat(20), flat(36.7), {73.4, 34.6, 73.4}}},
    {{2, 29, 0}, {flat(20), flat(20), flat(36.7), flat(40)}},
}};

constexpr Columns kTreeLl128Hopper{36.7, 36.7, 29};
constexpr std::array<CapEra, 5> kTreeLl128{{
    {{2, 10, 0}, {flat(20), flat(20), flat(20), flat(20)}},
    {{2, 17, 0}, {flat(20), flat(20), flat(36.7), flat(36.7)}},
    {{2, 18, 3}, {flat(20), flat(20), kTreeLl128Hopper, kTreeLl128Hopper}},
    {{2, 25, 0}, {flat(20), flat(20), kTreeLl128Hopper, {73.4, 73.4, 58}}},
    {{2, 28, 0}, {flat(20), flat(20), kTreeLl128Hopper, {55.6, 31.67, 20}}},
}};

constexpr Columns kTreeVolta{26.5, 18.5, 10}, kTreeAmpere{24, 23.6, 17.8}, kTreeHopper{38.7, 41.4, 36};
constexpr std::array<CapEra, 6> kTree{{
    {{2, 8, 0}, {kTreeVolta, {24, 22.5, 16}, {24, 22.5, 16}, {24, 22.5, 16}}},
    {{2, 10, 0}, {kTreeVolta, kTreeAmpere, kTreeAmpere, kTreeAmpere}},
    {{2, 17, 0}, {kTreeVolta, kTreeAmpere, {38.7, 41.4, 33}, {38.7, 41.4, 33}}},
    {{2, 18, 3}, {kTreeVolta, kTreeAmpere, kTreeHopper, kTreeHopper}},
    {{2, 25, 0}, {kTreeVolta, kTreeAmpere, kTreeHopper, {77.4, 82.8, 72}}},
    {{2, 28, 0}, {kTreeVolta, kTreeAmpere, kTreeHopper, {70, 42.8, 24}}},
}};

constexpr Columns kNvlsTreeHopper{0, 57.7, 45.5};
constexpr std::array<CapEra, 2> kNvlsTree{{
    {{2, 28, 0}, {flat(0), flat(0), kNvlsTreeHopper, {0, 96, 43.8}}},
    {{2, 30, 0}, {flat(0), flat(0), kNvlsTreeHopper, {0, 96, 80}}},
}};

/// Returns the limit of the version that is in force.
double lookup(std::span<const CapEra> eras, const Version& version, GpuClass gpu, int nodes) {
  const Columns& columns = row_in_force(eras, version).rows[static_cast<std::size_t>(gpu)];
  return columns[nodes <= 2 ? static_cast<std::size_t>(nodes - 1) : 2];
}

/// Limits of LL128 before 2.10, by collective: in all (2.5), or per channel (2.7 and 2.8).
struct EarlyLl128 {
  double total_25, per_channel_27, per_channel_28;
};

constexpr EarlyLl128 early_ll128(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::broadcast:
      return {113, 18.8, 18.8};
    case CollectiveOp::reduce:
      return {72, 12.0, 12.0};
    case CollectiveOp::all_gather:
      return {110, 18.3, 18.3};
    case CollectiveOp::reduce_scatter:
      return {91, 15.2, 15.2};
    default:
      return {100, 16.7, 16.9};
  }
}

double early_ll128_cap(const Version& version, CollectiveOp op, int channels) {
  const EarlyLl128 row = early_ll128(op);
  if (version < Version{2, 7, 0}) return row.total_25;
  return channels * (version < Version{2, 8, 0} ? row.per_channel_27 : row.per_channel_28);
}

}  // namespace

GpuClass gpu_class(const Version& version, int compute_capability) {
  if (compute_capability >= 100 && version >= Version{2, 25, 0}) return GpuClass::blackwell;
  if (compute_capability >= 90 && version >= Version{2, 15, 0}) return GpuClass::hopper;
  return compute_capability >= 80 ? GpuClass::ampere : GpuClass::volta;
}

double ll_cap(const Version& version, GpuClass gpu, bool amd_cpu, int nodes) {
  if (version < Version{2, 8, 0}) return kNoLimit;
  const GpuClass row = nodes == 1 ? gpu : amd_cpu ? GpuClass::ampere : GpuClass::volta;
  return lookup(kLl, version, row, nodes);
}

double ring_ll128_cap(const Version& version, GpuClass gpu, CollectiveOp op, int nodes, int channels) {
  if (version < Version{2, 10, 0}) return early_ll128_cap(version, op, channels);
  return channels * lookup(kRingLl128, version, gpu, nodes);
}

double tree_ll128_cap(const Version& version, GpuClass gpu, CollectiveOp op, int nodes, int channels) {
  if (version < Version{2, 10, 0}) return early_ll128_cap(version, op, channels);
  return channels * lookup(kTreeLl128, version, gpu, nodes);
}

double tree_cap(const Version& version, GpuClass gpu, int nodes, int channels, bool ll128_on_a100) {
  if (version < Version{2, 7, 0}) return nodes > 1 ? 70 : 90;
  if (version < Version{2, 8, 0}) {
    if (nodes > 2) return ll128_on_a100 ? 105 : 80;
    return ll128_on_a100 ? 130 : 110;
  }
  return channels * lookup(kTree, version, gpu, nodes);
}

double nvls_tree_channel_cap(const Version& version, GpuClass gpu, int nodes) {
  return version < Version{2, 28, 0} ? kNoLimit : lookup(kNvlsTree, version, gpu, nodes);
}

}  // namespace foretrain::nccl

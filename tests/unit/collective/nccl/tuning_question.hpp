// Questions to NCCL's forecast as tests spell them, and values that hold from one version to the next.
#pragma once

#include <initializer_list>

#include "sim/collective/nccl/tuning.hpp"
#include "tests/support/catch.hpp"

namespace foretrain::test {

/// The last version before another one.
inline nccl::Version just_before(const nccl::Version& version) {
  if (version.patch > 0) return {version.major, version.minor, version.patch - 1};
  return {version.major, version.minor - 1, 99};
}

/// A value, and the version of NCCL that brought it.
struct Since {
  nccl::Version version;
  double value;
};

/// `value_of` has each value from its version until the next one's, whose last patch is asked as well.
inline void check_versions(std::initializer_list<Since> rows, const auto& value_of) {
  double held = 0;
  bool is_first = true;
  for (const Since& row : rows) {
    CAPTURE(row.version.minor, row.version.patch);
    if (!is_first) CHECK(value_of(just_before(row.version)) == Approx(held));
    CHECK(value_of(row.version) == Approx(row.value));
    held = row.value, is_first = false;
  }
  CHECK(value_of(nccl::Version{2, 31, 0}) == Approx(held));
}

/// Channels of a graph over NVLink and a NIC beside each GPU.
inline nccl::GraphResult graph(nccl::Pattern pattern, int channels, double intra, double inter) {
  nccl::GraphResult result;
  result.pattern = pattern;
  result.channels = channels, result.bw_intra = intra, result.bw_inter = inter;
  result.type_intra = PathClass::nvl, result.type_inter = PathClass::pix;
  return result;
}

/// Nodes of `per_node` GPUs with NVSwitches on Intel hosts: `channels` at 40 GB/s inside and 20 between.
inline nccl::TuningInput nodes_of(int per_node, int nodes, nccl::Version version, int capability = 80,
                                  int channels = 4) {
  nccl::TuningInput input;
  input.job.version = version, input.job.ranks = per_node * nodes, input.job.nodes = nodes;
  input.job.min_compute_capability = input.job.max_compute_capability = capability;
  input.job.nvswitch = true, input.job.channels = 2 * channels;
  input.ring = graph(nccl::Pattern::ring, channels, 40, 20);
  input.tree = graph(nccl::Pattern::balanced_tree, channels, 40, 20);
  input.nvls = graph(nccl::Pattern::nvls, channels, 40, 20);
  input.collnet_chain = graph(nccl::Pattern::tree, channels, 40, 20);
  input.collnet_direct = graph(nccl::Pattern::collnet_direct, channels, 40, 20);
  return input;
}

}  // namespace foretrain::test

// Formulas of the losses, with a table of constants that were fitted per architecture.
//
// Losses are what many GPUs cost besides messages. The slowest rank: a synchronous step waits for the maximum
// of all ranks, and the expected maximum of n normal variables grows like sqrt(2 ln n). Multi-GPU contention:
// the GPUs of a full node share power, cooling and memory of the host. Shared SMs and bandwidth: NCCL's
// thread blocks take multiprocessors and memory bandwidth from the kernels that run at the same time.
// docs/models/step.md has the formulas, and the rows that each constant was fitted to.
#include "sim/strategy/process/losses.hpp"

#include <algorithm>
#include <vector>

#include "sim/base/random.hpp"

namespace foretrain {

namespace {

/// Passes over the GPU's memory for each byte that a ring sends: the peer's write, then its read together
/// with the read of the own part.
constexpr double kMemoryPasses = 3;
/// Fraction of a training step's kernel time that waits for memory; assumed (docs/models/step.md).
constexpr double kWaitsForMemory = 0.5;
/// Largest share that a collective takes, so that kernels go on at a tenth of their speed at least; assumed.
constexpr double kMostShare = 0.9;
/// Standard deviation of step time between ranks, before Ampere and since; fitted to training rows
/// (docs/models/step.md).
constexpr double kRankSpread = 0.01, kRecentRankSpread = 0.005;
/// Loss of a full node. Volta's value is from training rows of 15 sources, each of them held out once; older
/// GPUs have no rows and take it too. Turing's and Ampere's values are from runs on 2 to 8 GPUs that exchange
/// nothing: RTX 8000, RTX A6000 and A40. CDNA and CDNA 2, of the same years, have no such rows and take
/// Ampere's. Hopper's rows show no loss (docs/models/step.md).
constexpr double kBusyNode = 0.03, kBusyAmpereNode = 0.01;

/// Returns the bytes that each rank sends per byte of message on a ring of `ranks`.
double wire_share(CollectiveOp op, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  return op == CollectiveOp::all_reduce ? 2 * others : others;
}

int most_ranks_of_a_node(const Placement& placement) {
  std::vector<int> ranks;
  for (const GpuPlace& place : placement.ranks) {
    const auto node = static_cast<std::size_t>(place.node);
    if (node >= ranks.size()) ranks.resize(node + 1, 0);
    ++ranks[node];
  }
  return ranks.empty() ? 1 : *std::max_element(ranks.begin(), ranks.end());
}

}  // namespace

/// Architectures are compared in the order of the enumeration: before Ampere, Ampere and what stands with it,
/// from Ada on.
Losses losses_of(Architecture architecture) {
  Losses losses;
  losses.rank_spread = architecture >= Architecture::ampere ? kRecentRankSpread : kRankSpread;
  losses.busy_node = architecture < Architecture::ampere ? kBusyNode
                     : architecture < Architecture::ada  ? kBusyAmpereNode
                                                         : 0;
  return losses;
}

double slowest_rank_factor(double spread, int ranks) { return 1 + spread * expected_normal_maximum(ranks); }

double contention_factor(double loss, const Placement& placement, int gpus_per_node) {
  if (gpus_per_node < 2) return 1;
  return 1 + loss * (most_ranks_of_a_node(placement) - 1) / (gpus_per_node - 1);
}

double busy_host_factor(double loss, const Placement& placement, int cores, int threads) {
  // Fraction of the node's cores that work when `ranks` ranks run on it.
  const auto working = [&](int ranks) { return std::min(1.0, static_cast<double>(ranks) * threads / cores); };
  return 1 + loss * (working(most_ranks_of_a_node(placement)) - working(1));
}

/// Both parts are fractions of one GPU: thread blocks over multiprocessors, and the collective's memory
/// traffic over the memory bandwidth.
double share_of_collective(const CollectivePlan& plan, const Gpu& gpu, int ranks, double scale) {
  const double blocks = static_cast<double>(plan.channels) / std::max(1, gpu.sm_count);
  double memory = 0;
  if (ranks > 1 && plan.alone > Time::zero() && gpu.memory_bandwidth.per_second > 0) {
    const double rate =
        static_cast<double>(plan.size.count) * wire_share(plan.op, ranks) / to_seconds(plan.alone);
    memory = kWaitsForMemory * kMemoryPasses * rate / gpu.memory_bandwidth.per_second;
  }
  return std::clamp(scale * (blocks + memory), 0.0, kMostShare);
}

}  // namespace foretrain

// Time of fused attention. A block of queries passes over its keys, and the scores stay in the
// multiprocessor. The time is that of the blocks in waves over the multiprocessors, for the better of two
// block sizes.
#include "sim/workload/device/fused_attention_time.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/device/tensor_product_time.hpp"
#include "sim/workload/device/traffic_time.hpp"

namespace foretrain {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

bool has_nothing(const FlashAttention& a) {
  return std::min({a.batch, a.query_length, a.key_length, a.heads, a.kv_heads, a.head_dim}) < 1;
}

/// Returns the number of queries that see any key at all under the mask.
double seeing_queries(const FlashAttention& a) {
  return real(a.causal ? std::min(a.query_length, a.key_length) : a.query_length);
}

/// Returns the share of all pairs of a query and a key that the masks leave.
double unmasked_share(const FlashAttention& a) {
  if (!a.causal) return 1;
  const double queries = seeing_queries(a), keys = real(a.key_length);
  return a.window_share * queries * (keys - (queries - 1) / 2) / (real(a.query_length) * keys);
}

constexpr double kBackwardFlops = 2.5;  ///< scores again, then four products where forward has two
/// FLOP rate of backward over that of forward: FlashAttention-2 reaches up to 63 % of an A100's peak backward
/// and 73 % forward (Dao 2023).
constexpr double kBackwardRate = 63.0 / 73;

/// Speed of FlashAttention-2 over the first version in CUDA, and over the one in Triton forward and backward
/// (Dao 2023, section 4.1, on an A100: "around 2x", "1.3-1.5x in the forward pass and around 2x faster in the
/// backward pass").
constexpr double kOverFirst = 2, kOverTritonForward = 1.4, kOverTritonBackward = 2;

double slower_than_version_2(const FlashAttention& a) {
  if (a.kernel == AttentionKernel::version_1) return kOverFirst;
  if (a.kernel != AttentionKernel::version_1_triton) return 1;
  return a.backward ? kOverTritonBackward : kOverTritonForward;
}

constexpr double kHalfBytes = 2;              ///< bytes
constexpr double kExponentialsPerClock = 16;  ///< NVIDIA's programming guide, table of throughputs
/// fp32 operations of a score on CUDA cores: scale, mask, maximum, difference, sum and conversion. A100
/// identifies 5.6. Later kernels do them while the tensor cores work on another block, if there is room for
/// it.
constexpr double kScoreOperations = 6;
constexpr double kAmpereLanes = 64, kLaterLanes = 128;  ///< fp32 of a multiprocessor

/// Clocks from a block's start to its first product and from its last product to its end, with 128 queries.
/// They grow with the square root of the queries. Identified by A100 and H100, as is the next constant.
constexpr double kPrologueClocks = 7000, kPrologueQueries = 128;
/// Blocks of different lengths end at different times: the share of the longest block that the last one adds.
constexpr double kTail = 0.5;

/// The queries and keys that a thread block works on at a time. The two sizes are tried in turn.
struct ScoreBlock {
  double queries, keys;
};
constexpr ScoreBlock kScoreBlocks[] = {{128, 64}, {64, 64}};

/// The device as one version of the kernel uses it: rates, constants, and whether instructions are Ampere's.
struct AttentionMachine {
  const Gpu& gpu;
  const TensorCores& cores;
  const KernelCalibration& calibration;
  TensorRate rate;
  /// A multiprocessor has two blocks of this version: scores of one run beside products of the other.
  bool is_version_2;
  bool runs_older;  ///< Ampere's instructions

  /// A calibration's own constant of attention scales the rate as that of products does.
  AttentionMachine(const Gpu& g, const TensorCores& c, const KernelCalibration& k, bool version_2)
      : gpu(g),
        cores(c),
        calibration(k),
        rate(tensor_rate(g, c, kHalfBytes, k)),
        is_version_2(version_2),
        runs_older(version_2 || c.instruction_rows <= 0) {
    const double usual = default_kernel_calibration(g).attention.half;
    const double of_products = rate.share / c.sustained_half;
    if (usual > 0) rate.share *= k.attention.half / usual / of_products;
    if (version_2) rate.share *= c.older_share;
  }

  /// Returns the loss factor of Ampere's instructions, whose operands pass registers: the ratio to what the
  /// best product's tile loses.
  double loss(const ScoreBlock& block) const {
    if (!runs_older) return 1;
    constexpr Tile kBest{256, 128};
    TensorCores older;
    const double bytes = rate.flops_per_clock * (cores.instruction_rows > 0 ? cores.older_share : 1);
    return operand_loss({block.queries, block.keys}, older, bytes, calibration) /
           operand_loss(kBest, older, bytes, calibration);
  }

  /// Returns the clocks of one score: two products of head_dim, one exponential, and the operations around
  /// it.
  double score_clocks(const ScoreBlock& block, double head_dim) const {
    const double products = 4 * head_dim / (rate.flops_per_clock * rate.share) * loss(block);
    const double lanes = cores.instruction_rows > 0 ? kLaterLanes : kAmpereLanes;
    const bool is_beside = is_version_2 || head_dim <= cores.widest_overlapped_head;
    return products + 1 / kExponentialsPerClock + (is_beside ? 0 : kScoreOperations / lanes);
  }
};

/// Returns the number of blocks of keys that all blocks of queries of one head pass over.
double key_blocks(const FlashAttention& a, const ScoreBlock& block, double query_blocks) {
  const double longest = std::ceil(real(a.key_length) / block.keys);
  if (!a.causal) return query_blocks * longest;
  const double before = real(a.key_length) - seeing_queries(a);  // keys that all queries see
  const double whole = query_blocks - 1;
  return whole * before / block.keys + whole * query_blocks / 2 * block.queries / block.keys + longest;
}

/// Returns the seconds with one size of block. While every block has a multiprocessor to itself, the longest
/// decides. Otherwise work is spread evenly, and the last block adds a tail.
double block_seconds(const FlashAttention& a, const ScoreBlock& block, const AttentionMachine& machine) {
  const double query_blocks = std::ceil(seeing_queries(a) / block.queries);
  const double units = real(a.batch) * real(a.heads) * query_blocks;
  const double prologue = kPrologueClocks * std::sqrt(block.queries / kPrologueQueries);
  const double pass = block.queries * block.keys * machine.score_clocks(block, real(a.head_dim));
  const double longest = std::ceil(real(a.key_length) / block.keys) * pass + prologue;
  const double all =
      real(a.batch) * real(a.heads) * key_blocks(a, block, query_blocks) * pass + units * prologue;
  const double multiprocessors = std::max(1, machine.gpu.sm_count);
  if (units <= multiprocessors) return longest / machine.rate.clock;
  return (std::max(all / multiprocessors, longest) + kTail * longest) / machine.rate.clock;
}

double score_seconds(const FlashAttention& a, const AttentionMachine& machine) {
  double best = INFINITY;
  for (const ScoreBlock& block : kScoreBlocks) best = std::min(best, block_seconds(a, block, machine));
  return a.window_share * best * slower_than_version_2(a) * (a.backward ? kBackwardFlops / kBackwardRate : 1);
}

}  // namespace

double flash_attention_flops(const FlashAttention& a) {
  if (has_nothing(a)) return 0;
  const double pairs = real(a.batch) * real(a.heads) * real(a.query_length) * real(a.key_length);
  return (a.backward ? kBackwardFlops : 1) * 4 * pairs * real(a.head_dim) * unmasked_share(a);
}

/// Forward reads q, k and v and writes the result. Backward reads these, the result and its gradient, and
/// writes three gradients. The sums of result times gradient and the fp32 sums of q's gradient are kernels of
/// their own.
AttentionTraffic traffic_of(const FlashAttention& a) {
  const double queries = real(a.batch) * real(a.heads) * real(a.query_length) * real(a.head_dim);
  const double keys = real(a.batch) * real(a.kv_heads) * real(a.key_length) * real(a.head_dim);
  if (!a.backward) return {kHalfBytes * (2 * queries + 2 * keys), 0};
  constexpr double kSums = 4;
  return {kHalfBytes * (3 * queries + 4 * keys) + kSums * queries,
          kHalfBytes * 2 * queries + (kSums + kHalfBytes) * queries};
}

double fused_attention_seconds(const FlashAttention& a, const Gpu& gpu, const TensorCores& cores,
                               const KernelCalibration& calibration) {
  if (has_nothing(a)) return 0;
  const AttentionTraffic traffic = traffic_of(a);
  const AttentionMachine machine(gpu, cores, calibration, a.kernel != AttentionKernel::newest);
  const double launches = (a.backward ? 3 : 1) * to_seconds(calibration.launch_gap);
  return launches +
         overlapped(score_seconds(a, machine), product_memory_seconds(traffic.beside, gpu),
                    calibration.roofline_power) +
         product_memory_seconds(traffic.apart, gpu);
}

}  // namespace foretrain

// A forecast is latency + size / bandwidth. Two effects bend the line: trees are slow at middle sizes, and a
// ring over the network has more latency once its chunks are full.
//
// NCCL evaluates the forecast T = L + S / B for each pair and takes the smallest; equal values go to the
// first pair in its order. User settings and plug-ins remove pairs before that. Each message has a choice of
// its own, so one training step uses several algorithms.
#include <algorithm>
#include <bit>
#include <vector>

#include <fmt/format.h>

#include "sim/collective/nccl/tuning.hpp"

namespace foretrain::nccl {

namespace {

/// Shares of a tree's bandwidth by floor(log2(size / 64 B)), from 64 B to 256 MiB
/// (docs/sources/nccl_tuning.md 1.1).
using TreeShares = std::array<float, 23>;
constexpr TreeShares kTreeLl{1,   1,   1,   1,   .9F, .8F, .7F, .7F, .7F, .7F, .6F, .5F,
                             .4F, .4F, .5F, .6F, .7F, .8F, .9F, 1,   1,   1,   1};
constexpr TreeShares kTreeLl128Shares{1,   1,   1,   1,   1,   .9F, .8F, .8F, .8F, .7F, .6F, .6F,
                                      .6F, .6F, .6F, .6F, .8F, .9F, .9F, .9F, .9F, 1,   1};
constexpr TreeShares kTreeLl128Until29{1,   1,   1,   1,   1,   .9F, .8F, .8F, .8F, .7F,  .6F, .6F,
                                       .6F, .5F, .6F, .6F, .7F, .7F, .8F, .9F, .9F, .92F, .92F};
constexpr TreeShares kTreeSimple{.9F, .9F, .9F, .9F, .9F, .9F, .9F, .8F, .7F, .6F, .6F, .5F,
                                 .5F, .5F, .5F, .6F, .7F, .8F, .7F, .7F, .8F, .9F, .9F};

/// Returns the shares for a protocol.
const TreeShares& tree_shares(const Version& version, Protocol protocol) {
  if (protocol == Protocol::ll) return kTreeLl;
  if (protocol == Protocol::simple) return kTreeSimple;
  return version < Version{2, 10, 0} ? kTreeLl128Until29 : kTreeLl128Shares;
}

/// Returns floor(log2(bytes / 64)), at least 0.
std::size_t size_class(std::int64_t bytes) {
  const auto cells = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)) >> 6U;
  return cells > 1 ? static_cast<std::size_t>(std::bit_width(cells) - 1) : 0;
}

/// Returns the share for a size. NCCL 2.5 has no such table, and 2.7 has one entry fewer. Since 2.29 the last
/// value holds for all larger sizes.
float tree_share(const Version& version, Protocol protocol, std::int64_t bytes) {
  if (version < Version{2, 7, 0}) return 1;
  const std::size_t place = size_class(bytes), entries = version < Version{2, 8, 0} ? 22 : 23;
  const TreeShares& shares = tree_shares(version, protocol);
  if (place < entries) return shares[place];
  return version >= Version{2, 29, 0} ? shares.back() : 1;
}

/// Returns whether the shares apply to the algorithm.
bool bends(const JobFacts& job, Algorithm algorithm) {
  if (algorithm == Algorithm::tree) return true;
  return algorithm == Algorithm::nvls_tree && job.version >= Version{2, 29, 0} &&
         job.min_compute_capability >= 100 && (job.cpu == CpuVendor::intel || job.cpu == CpuVendor::amd);
}

/// Returns the factor by which the latency of a ring over the network grows when its chunks are full.
double ring_plateau(const JobFacts& job, std::int64_t bytes) {
  if (job.version < Version{2, 7, 0}) return 1;
  if (job.version < Version{2, 18, 0}) {
    const bool shorter = job.version >= Version{2, 17, 0} && job.min_compute_capability >= 90;
    return static_cast<double>(bytes) >= job.ranks / 16.0 * 65536 ? (shorter ? 1.5 : 1.9) : 1;
  }
  const std::int64_t parts = static_cast<std::int64_t>(std::max(1, job.channels)) * job.ranks;
  if (bytes / parts < 64) return 1;
  return job.min_compute_capability < 80 ? 1.9 : 1.4;
}

/// Returns how often the latency is paid for grouped operations. One kernel runs several of them, but rings
/// pay for each.
int latencies_paid(const JobFacts& job, Algorithm algorithm, int grouped) {
  const int per_kernel = job.version < Version{2, 22, 0} ? 9 : 62;
  return algorithm == Algorithm::ring ? grouped : (grouped + per_kernel - 1) / per_kernel;
}

/// Returns whether the algorithm needs a reducing network that is not available.
bool switch_cannot_reduce(const JobFacts& job, Algorithm algorithm) {
  const bool collnet = algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain;
  return collnet && (!job.collnet || job.nodes == 1);
}

/// Returns "Ring/LL 49.7 us".
std::string text_of(Algorithm algorithm, Protocol protocol, float us) {
  return fmt::format("{}/{} {:.1f} us", name_of(algorithm), foretrain::name_of(protocol), us);
}

}  // namespace

std::optional<float> predicted_us(const TuningTable& table, CollectiveOp op, std::int64_t bytes,
                                  Algorithm algorithm, Protocol protocol, int grouped) {
  if (!is_tuned(op)) return std::nullopt;
  const JobFacts& job = table.job;
  Forecast cell = table.at(op, algorithm, protocol);
  if (!(cell.algbw > 0) || switch_cannot_reduce(job, algorithm)) return std::nullopt;
  if (bends(job, algorithm)) cell.algbw *= tree_share(job.version, protocol, bytes);
  const bool over_network = algorithm == Algorithm::ring && protocol == Protocol::simple && job.nodes > 1;
  if (over_network && op == CollectiveOp::all_reduce)
    cell.latency_us = static_cast<float>(cell.latency_us * ring_plateau(job, bytes));
  const float paid =
      cell.latency_us * static_cast<float>(latencies_paid(job, algorithm, std::max(1, grouped)));
  return paid + static_cast<float>(bytes) / (1000 * cell.algbw);
}

Choice choose(const TuningTable& table, CollectiveOp op, std::int64_t bytes, const Forced& forced,
              int grouped) {
  Choice best;
  for (const Algorithm algorithm : kAlgorithms) {
    if (forced.algorithm && *forced.algorithm != algorithm) continue;
    for (const Protocol protocol : kProtocols) {
      if (forced.protocol && *forced.protocol != protocol) continue;
      const std::optional<float> us = predicted_us(table, op, bytes, algorithm, protocol, grouped);
      if (us && (!best.available || *us < best.predicted_us)) best = {algorithm, protocol, *us, true};
    }
  }
  return best;
}

std::string reason(const TuningTable& table, CollectiveOp op, std::int64_t bytes, const Choice& choice) {
  if (!choice.available) return "what was asked for cannot run here";
  std::vector<Choice> others;
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Protocol protocol : kProtocols) {
      const std::optional<float> us = predicted_us(table, op, bytes, algorithm, protocol);
      const bool chosen = algorithm == choice.algorithm && protocol == choice.protocol;
      if (us && !chosen) others.push_back({algorithm, protocol, *us, true});
    }
  }
  std::ranges::stable_sort(others, {}, &Choice::predicted_us);
  std::string text = text_of(choice.algorithm, choice.protocol, choice.predicted_us);
  const std::size_t shown = std::min<std::size_t>(others.size(), 2);
  for (std::size_t i = 0; i < shown; ++i) {
    text += i == 0 ? "; next " : ", ";
    text += text_of(others[i].algorithm, others[i].protocol, others[i].predicted_us);
  }
  return text;
}

}  // namespace foretrain::nccl

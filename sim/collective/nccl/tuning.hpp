// NCCL's own forecast: latency and bandwidth of every algorithm and protocol, and the choice that NCCL makes
// by them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/nccl/graph.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain::nccl {

/// The vendor of the host CPU, as far as NCCL's constants differ by it.
enum class CpuVendor : std::uint8_t { intel, amd, power, arm };

/// The facts of a job that the forecast needs in addition to its graphs.
struct JobFacts {
  Version version{};
  int ranks = 1, nodes = 1;
  /// Compute capabilities as 70, 86, 90, 100, …
  int min_compute_capability = 70, max_compute_capability = 70;
  CpuVendor cpu = CpuVendor::intel;
  bool nvswitch = false;
  /// CollNet (in-network reduction) is available and enabled.
  bool collnet = false;
  /// NCCL was built with CUDA 11.8, in which LL128 has a fault on Hopper.
  bool cuda_11_8 = false;
  /// Channels that run: the communicator's and not the search's.
  int channels = 1;
  int ranks_per_node() const { return nodes > 0 ? ranks / nodes : ranks; }
  friend bool operator==(const JobFacts&, const JobFacts&) = default;
};

/// The input of the forecast. A graph that was not found has no channels. Figures are the smallest over all
/// ranks.
struct TuningInput {
  JobFacts job;
  GraphResult ring, tree, nvls, collnet_chain, collnet_direct;
};

/// NCCL's forecast for one pair of algorithm and protocol: S bytes take latency_us + S / (1000 algbw). It is
/// computed in float as in NCCL, because ties depend on the rounding.
struct Forecast {
  float latency_us = 0;
  /// Algorithm bandwidth in GB/s; 0: not available.
  float algbw = 0;
};

/// The forecasts of all operations, algorithms and protocols, as NCCL prints them with
/// NCCL_DEBUG_SUBSYS=TUNING. They are kept in float, so that ties and last digits are the same.
class TuningTable {
 public:
  JobFacts job;
  /// Returns the forecast of a cell. Requires an operation that NCCL tunes: is_tuned(op).
  Forecast& at(CollectiveOp op, Algorithm algorithm, Protocol protocol) {
    return cells_[index(op, algorithm, protocol)];
  }
  const Forecast& at(CollectiveOp op, Algorithm algorithm, Protocol protocol) const {
    return cells_[index(op, algorithm, protocol)];
  }

 private:
  static std::size_t index(CollectiveOp op, Algorithm algorithm, Protocol protocol);
  std::array<Forecast, std::size_t{5} * 7 * 3> cells_{};
};

/// Returns whether NCCL tunes the operation: broadcast, reduce, all_gather, reduce_scatter and all_reduce.
/// Other operations are made of sends and receives.
bool is_tuned(CollectiveOp op);

/// Computes all forecasts (docs/sources/nccl_tuning.md 1.1 to 1.3, for NCCL 2.5 to 2.30).
TuningTable tuning_table(const TuningInput& input);

/// Return the two parts of a cell: the latency in us, and the algorithm bandwidth (message size / time) in
/// GB/s, which is 0 if the pair is not available.
float latency_us(const TuningInput& input, CollectiveOp op, Algorithm algorithm, Protocol protocol);
float algorithm_bandwidth(const TuningInput& input, CollectiveOp op, Algorithm algorithm, Protocol protocol);

/// Returns false if NCCL leaves the cell empty, without a latency.
bool is_considered(const JobFacts& job, CollectiveOp op, Algorithm algorithm, Protocol protocol);

/// Returns whether LL128 is known to keep the order of its stores on the data paths of this graph.
bool ll128_is_safe(const TuningInput& input, CollectiveOp op, Algorithm algorithm);

/// The restrictions of the choice by NCCL_ALGO and NCCL_PROTO.
struct Forced {
  std::optional<Algorithm> algorithm{};
  std::optional<Protocol> protocol{};
};

/// The algorithm and protocol with the smallest forecast for one message.
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  float predicted_us = 0;
  /// False: what was forced cannot run here. NCCL then stops with an error.
  bool available = false;
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// Returns NCCL's forecast for `bytes` (as nccl-tests prints them: all ranks' parts together) in us; nothing
/// if the pair is not available. `grouped` is the number of operations in one group call that run as one
/// kernel.
std::optional<float> predicted_us(const TuningTable& table, CollectiveOp op, std::int64_t bytes,
                                  Algorithm algorithm, Protocol protocol, int grouped = 1);

/// Returns the pair with the smallest forecast; of equal ones the first in NCCL's order.
Choice choose(const TuningTable& table, CollectiveOp op, std::int64_t bytes, const Forced& forced = {},
              int grouped = 1);

/// Returns the chosen pair with the next best ones, best first: "Tree/LL 49.7 us; next Ring/LL 98.9 us,
/// Tree/Simple 504.1 us".
std::string reason(const TuningTable& table, CollectiveOp op, std::int64_t bytes, const Choice& choice);

}  // namespace foretrain::nccl

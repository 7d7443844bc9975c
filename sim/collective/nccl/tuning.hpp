// NCCL's own forecast: latency and bandwidth of every algorithm and protocol, and the choice it makes by
// them.
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

/// What the forecast knows of a job beside its graphs.
struct JobFacts {
  Version version{};
  int ranks = 1, nodes = 1;
  int min_compute_capability = 70, max_compute_capability = 70;  ///< 70, 86, 90, 100, …
  CpuVendor cpu = CpuVendor::intel;
  bool nvswitch = false;
  bool collnet = false;    ///< in-network reduction is there and enabled
  bool cuda_11_8 = false;  ///< LL128 has a fault there on Hopper
  int channels = 1;        ///< that run: the communicator's, not the search's
  int ranks_per_node() const { return nodes > 0 ? ranks / nodes : ranks; }
  friend bool operator==(const JobFacts&, const JobFacts&) = default;
};

/// A graph that was not found has no channels. Figures are the smallest over all ranks.
struct TuningInput {
  JobFacts job;
  GraphResult ring, tree, nvls, collnet_chain, collnet_direct;
};

/// NCCL's own forecast for one pair of algorithm and protocol: the time of S bytes is latency_us + S / (1000
/// algbw). It is computed in float, as in NCCL, because ties depend on the rounding.
struct Forecast {
  float latency_us = 0;
  float algbw = 0;  ///< GB/s; 0: not available
};

/// As NCCL prints it with NCCL_DEBUG_SUBSYS=TUNING; kept in its `float`, so that ties and last digits are the
/// same.
class TuningTable {
 public:
  JobFacts job;
  /// Requires an operation that NCCL tunes: is_tuned(op).
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

/// broadcast, reduce, all_gather, reduce_scatter, all_reduce; everything else is made of sends and receives.
bool is_tuned(CollectiveOp op);

/// docs/sources/nccl_tuning.md 1.1 to 1.3, for NCCL 2.5 to 2.30.
TuningTable tuning_table(const TuningInput& input);

/// One cell's parts. Latency in microseconds; bandwidth is the algorithm's (message size / time), 0 when not
/// available.
float latency_us(const TuningInput& input, CollectiveOp op, Algorithm algorithm, Protocol protocol);
float algorithm_bandwidth(const TuningInput& input, CollectiveOp op, Algorithm algorithm, Protocol protocol);

/// False: NCCL leaves the cell empty, without latency.
bool is_considered(const JobFacts& job, CollectiveOp op, Algorithm algorithm, Protocol protocol);

/// Data paths on which LL128 is known to keep the order of its stores.
bool ll128_is_safe(const TuningInput& input, CollectiveOp op, Algorithm algorithm);

/// What NCCL_ALGO and NCCL_PROTO leave to choose from.
struct Forced {
  std::optional<Algorithm> algorithm{};
  std::optional<Protocol> protocol{};
};

/// The algorithm and protocol with the smallest forecast for one message.
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  float predicted_us = 0;
  bool available = false;  ///< false: what was forced cannot run here; NCCL then stops with an error
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// NCCL's forecast for `bytes` (as nccl-tests prints them: all ranks' parts together); nothing when the cell
/// is not available. `grouped`: operations in one group call that run as one kernel.
std::optional<float> predicted_us(const TuningTable& table, CollectiveOp op, std::int64_t bytes,
                                  Algorithm algorithm, Protocol protocol, int grouped = 1);

/// The smallest forecast; the first in NCCL's order when equal.
Choice choose(const TuningTable& table, CollectiveOp op, std::int64_t bytes, const Forced& forced = {},
              int grouped = 1);

/// "Tree/LL 49.7 us; next Ring/LL 98.9 us; Tree/Simple 504.1 us": the best of every other algorithm and
/// protocol, nearest first.
std::string reason(const TuningTable& table, CollectiveOp op, std::int64_t bytes, const Choice& choice);

}  // namespace foretrain::nccl

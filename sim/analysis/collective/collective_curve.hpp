// What nccl-tests would print for a job that nobody has run: time and bandwidth of one collective over
// message sizes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/analysis/uncertainty/collective_spread.hpp"
#include "sim/base/units.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/fidelity.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/collective/schedule.hpp"
#include "sim/collective/settings.hpp"
#include "sim/collective/timing.hpp"
#include "sim/collective/transport_run.hpp"
#include "sim/collective/transports/transport.hpp"

namespace foretrain {

/// A question about one collective: operation, machine, ranks, sizes and settings.
struct CollectiveQuestion {
  ClusterSpec cluster;
  CollectiveOp op = CollectiveOp::all_reduce;
  int gpus = 1;
  int nodes = 0;  ///< 0: as few as hold the GPUs; otherwise the GPUs are spread evenly
  std::vector<Bytes> sizes;
  CollectiveSettings settings;
  std::optional<Transport> transport{};  ///< instead of NCCL
  /// A family of the algorithm catalog for it; empty: what its library takes.
  std::string transport_algorithm{};
  Fidelity fidelity = Fidelity::analytic;
  bool single = false;   ///< one call by itself, not one of the loop of nccl-tests
  bool explain = false;  ///< fill CollectivePoint::why
};

/// What the time is made of first.
enum class BoundBy : std::uint8_t { nothing, launch, latency, thread_blocks, host, link };
/// "-", "launch", "latency", "thread blocks", "host", "link".
std::string_view name_of(BoundBy bound);

/// Plain numbers and indices, so that thousands of sizes take milliseconds.
struct CollectivePoint {
  Bytes size{};   ///< as nccl-tests runs it: see run_size()
  Time time{};    ///< one of many in the loop of nccl-tests, or of a single call: launch and collective
  Time launch{};  ///< host time of one thread of a process
  Time hidden{};  ///< of the parts below, by the calls before and behind in the loop
  ByteRate algbw{}, busbw{};
  std::string_view algorithm = "-";
  std::string_view protocol = "-";
  int channels = 0;  ///< connections of a transport; 0: nothing runs
  CollectiveTiming timing{};
  Reach reach{};              ///< of its 90 % interval; 0: none is known
  CollectiveEvidence kind{};  ///< by which rows it is known
  BoundBy bound = BoundBy::nothing;
  int bottleneck = -1;  ///< index into CollectiveCurve::links; -1: none
  std::string why;
};

/// What measured runs made of a point.
struct CallEvidence {
  Time raw{};         ///< as simulated
  Estimate estimate;  ///< without neighbours: as simulated
};

/// The times of one collective over message sizes, with NCCL's choice for each size.
struct CollectiveCurve {
  std::string cluster, gpu;
  CollectiveOp op = CollectiveOp::all_reduce;
  Placement placement;
  int processes_per_node = 0;  ///< 0: one per GPU
  int threads_per_process = 1;
  bool single = false;  ///< times of single calls
  nccl::Isolation isolation = nccl::Isolation::none;
  std::string library;  ///< "NCCL 2.20.5", "gloo"
  Fidelity fidelity = Fidelity::analytic;
  std::vector<CollectivePoint> points;  ///< in the order of the question's sizes
  std::vector<CallEvidence> evidence;   ///< of each point; empty: times are as simulated
  std::vector<std::string> links;       ///< the bottlenecks' names, as in "nic0 of node 0 to leaf0"
  std::vector<std::string> warnings;
  int gpus() const { return placement.size(); }
};

/// What each operation rounds a size down to: whole floats, and per rank multiples of 16 bytes where every
/// rank has its own part (nccl-tests: GetCollByteCount).
Bytes run_size(CollectiveOp op, Bytes size, int ranks);

/// Floats in the "count" column of nccl-tests: of the whole message, or of one rank's part.
std::int64_t counted_elements(CollectiveOp op, Bytes size, int ranks);

/// Where the ranks go: packed on as few nodes as possible (nodes = 0) or spread evenly. Throws InputError
/// when the cluster has not as many GPUs or nodes, when GPUs do not fit on the nodes, or nodes would stay
/// empty.
Placement place_job(const ClusterSpec& cluster, int gpus, int nodes);

/// CollectiveSettings::processes_per_node as nccl-tests is usually started: one process with -g N on one
/// node, one per GPU over several.
int usual_processes_per_node(int nodes);

/// Nothing to send: nothing is launched, and the time is zero. Throws InputError as place_job(), when a size
/// takes longer than kLongestTime, and when the transport's library has no such operation or the algorithm
/// asked for cannot do it. Requires a cluster that check() passes.
CollectiveCurve predict_collective(const CollectiveQuestion& question);

/// A point's bandwidths by its time.
void set_bandwidths(CollectivePoint& point, CollectiveOp op, int ranks);

/// 90 % interval of a point's time; none where nothing runs or nobody measured such.
std::optional<TimeRange> interval_of(const CollectivePoint& point);

// Links in words.

/// "gpu0 to nvswitch0 in node 0", "nic0 of node 0 to leaf0", "leaf0 to spine1". Requires a link of the
/// cluster.
std::string describe_link(const Cluster& cluster, LinkId link);

// One collective over a transport that is not NCCL: gloo, MPI, gRPC between processes on the hosts, or links
// alone.

/// `bottleneck` is left to the caller. An operation that the library has not got has channels = 0 and says
/// why.
CollectivePoint transport_point(const Transport& transport, Bytes size, const TransportRun& run);

}  // namespace foretrain

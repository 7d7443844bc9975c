// The prediction of nccl-tests' output for a job that nobody has run: time and bandwidth of one collective
// over message sizes.
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
  /// 0 for as few nodes as hold the GPUs; otherwise the GPUs are spread evenly.
  int nodes = 0;
  std::vector<Bytes> sizes;
  CollectiveSettings settings;
  /// A transport in place of NCCL.
  std::optional<Transport> transport{};
  /// A family of the algorithm catalog for that transport; empty for the choice of its library.
  std::string transport_algorithm{};
  Fidelity fidelity = Fidelity::analytic;
  /// True for one call by itself; otherwise calls follow each other as in the loop of nccl-tests.
  bool single = false;
  /// True to fill CollectivePoint::why.
  bool explain = false;
};

/// The largest part of a call's time, which bounds it.
enum class BoundBy : std::uint8_t { nothing, launch, latency, thread_blocks, host, link };
/// Returns "-", "launch", "latency", "thread blocks", "host" or "link".
std::string_view name_of(BoundBy bound);

/// A size of a curve, as plain numbers and indices, so that thousands of sizes take milliseconds.
struct CollectivePoint {
  /// Size that nccl-tests runs for the requested one: see run_size().
  Bytes size{};
  /// Time of one of many calls in the loop of nccl-tests; of a single call, launch and collective.
  Time time{};
  /// Host time of one thread of a process.
  Time launch{};
  /// Part of `timing` that overlaps with the calls before and after it in the loop.
  Time hidden{};
  ByteRate algbw{}, busbw{};
  std::string_view algorithm = "-";
  std::string_view protocol = "-";
  /// Channels, or connections of a transport; 0 where nothing runs.
  int channels = 0;
  CollectiveTiming timing{};
  /// Reach of its 90 % interval; 0 where none is known.
  Reach reach{};
  /// Group of measured rows that it belongs to.
  CollectiveEvidence kind{};
  BoundBy bound = BoundBy::nothing;
  /// Index into CollectiveCurve::links; -1 for none.
  int bottleneck = -1;
  std::string why;
};

/// The effect of measured runs on a point.
struct CallEvidence {
  /// Time as simulated.
  Time raw{};
  /// Estimate by the field; without neighbours the point stays as simulated.
  Estimate estimate;
};

/// The times of one collective over message sizes, with NCCL's choice for each size.
struct CollectiveCurve {
  std::string cluster, gpu;
  CollectiveOp op = CollectiveOp::all_reduce;
  Placement placement;
  /// 0 for one process for each GPU.
  int processes_per_node = 0;
  int threads_per_process = 1;
  /// True if the times are those of single calls.
  bool single = false;
  nccl::Isolation isolation = nccl::Isolation::none;
  /// Name and version: "NCCL 2.20.5", "gloo".
  std::string library;
  Fidelity fidelity = Fidelity::analytic;
  /// Points in the order of the question's sizes.
  std::vector<CollectivePoint> points;
  /// Effect of measured runs by point; empty where all times are as simulated.
  std::vector<CallEvidence> evidence;
  /// Names of the bottlenecks, such as "nic0 of node 0 to leaf0".
  std::vector<std::string> links;
  std::vector<std::string> warnings;
  int gpus() const { return placement.size(); }
};

/// Returns the size that an operation runs for a requested one: whole floats, and multiples of 16 bytes for
/// each rank where every rank has its own part (nccl-tests: GetCollByteCount).
Bytes run_size(CollectiveOp op, Bytes size, int ranks);

/// Returns the floats in the "count" column of nccl-tests: of the whole message, or of one rank's part.
std::int64_t counted_elements(CollectiveOp op, Bytes size, int ranks);

/// Returns the places of all ranks: packed on as few nodes as possible (nodes = 0) or spread evenly. Throws
/// InputError when the cluster lacks the GPUs or nodes, when GPUs do not fit on the nodes, or when nodes
/// would stay empty.
Placement place_job(const ClusterSpec& cluster, int gpus, int nodes);

/// Returns CollectiveSettings::processes_per_node as nccl-tests is usually started: one process with -g N on
/// one node, one for each GPU over several (0).
int usual_processes_per_node(int nodes);

/// Predicts all sizes. A message without bytes launches nothing and takes no time. Throws InputError as
/// place_job() does, when a size takes longer than kLongestTime, and when the transport's library lacks the
/// operation or the requested algorithm cannot do it. Requires a cluster that check() passes.
CollectiveCurve predict_collective(const CollectiveQuestion& question);

/// Sets a point's bandwidths from its time.
void set_bandwidths(CollectivePoint& point, CollectiveOp op, int ranks);

/// Returns the 90 % interval of a point's time; none where nothing runs or no such call was measured.
std::optional<TimeRange> interval_of(const CollectivePoint& point);

// Links in words.

/// Returns a link in words: "gpu0 to nvswitch0 in node 0", "nic0 of node 0 to leaf0", "leaf0 to spine1".
/// Requires a link of the cluster.
std::string describe_link(const Cluster& cluster, LinkId link);

// Collectives over a transport other than NCCL: gloo, MPI, gRPC between processes on the hosts, or links
// alone.

/// Returns the point of a collective over a transport other than NCCL: gloo, MPI, gRPC between processes on
/// the hosts, or links alone. `bottleneck` is left to the caller. An operation that the library lacks has
/// channels = 0 and a reason.
CollectivePoint transport_point(const Transport& transport, Bytes size, const TransportRun& run);

}  // namespace foretrain

// The time of one micro-batch through a chunk of layers, forward and backward: kernels, exchanges and the
// host that issues them, layer by layer.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/strategy/parallel/chunk_pieces.hpp"
#include "sim/strategy/parallel/pass_writer.hpp"

namespace foretrain {

/// Seconds of the compute stream by what it did or waited for. The parts sum to `total`.
struct PassTime {
  double total = 0;
  double compute = 0, host = 0;
  /// Exposed exchanges, by group of ranks.
  double tensor = 0, context = 0, expert = 0, data = 0;
  /// Adds all parts of another pass.
  PassTime& operator+=(const PassTime& other);
  /// Returns the pass with every part multiplied by `factor`.
  PassTime times(double factor) const;
};

/// The passes of a chunk for one micro-batch. `weight_share` is the fraction of `backward` that computes
/// weight gradients.
struct ChunkTime {
  PassTime forward, backward;
  double weight_share = 0.5;
  /// Fraction of the GPU taken while tokens are sent to experts.
  double expert_share = 0;
  /// Host time of both passes, in s.
  double issue_s = 0;
  /// Kernels of both passes.
  double launches = 0;
  /// Bytes that reduce-scatters of tensor ranks send in both passes.
  double scattered_bytes = 0;
  /// FLOPs of the model, forward and backward, without recomputation.
  double flops = 0;
};

/// Hides all-to-alls of experts behind kernels. Forward of one micro-batch and backward of another are issued
/// layer by layer in turn, so the all-to-alls of one run concurrently with the kernels of the other
/// (Megatron-LM's overlap_moe_expert_parallel_comm). Exchanges that are longer than all kernels stay exposed,
/// and kernels lose `gpu_share` of the GPU while exchanges run.
void hide_expert_exchanges(ChunkTime& time, double gpu_share);  // pass_time.cpp

/// A kernel or an exchange of a pass, in seconds from the beginning of the pass.
struct PassSpan {
  PassCharge charge = PassCharge::compute;
  std::string name;
  double begin_s = 0, end_s = 0;
};

/// Kernels and exchanges of a chunk's forward and backward pass, as they were simulated.
struct ChunkSpans {
  std::vector<PassSpan> forward, backward;
};
/// Messages of a chunk's passes, in the order of the host's calls.
struct ChunkMessages {
  std::vector<PassMessage> forward, backward;
};

/// Passes of a chunk in sequence, as they were simulated, with three moments of the last ones: forward runs
/// from `begin` to `middle`, backward from `middle` to `end`.
struct SimulatedPasses {
  SimulatedPasses(const TimingSite& site, const ChunkPieces& pieces, bool from_idle);
  PassWriter writer;
  Timeline timeline;
  TaskId begin = kNone, middle = kNone, end = kNone;
};

/// Times chunks. Each kind of chunk is simulated once. `from_idle`: the host starts when the pass starts, as
/// it does after an exchange that it waited for; otherwise it is as far ahead as it can be. Not thread-safe.
class ChunkTimer {
 public:
  explicit ChunkTimer(const TimingSite& site);

  /// Returns the times of a chunk's passes. The reference stays valid as long as this object.
  const ChunkTime& at(const StageChunk& chunk, bool from_idle);
  /// Returns the kernels and exchanges of all layers, stretched to the times of at(). Simulates at every
  /// call.
  ChunkSpans spans(const StageChunk& chunk, bool from_idle);  // chunk_spans.cpp
  /// Returns the parameters of each piece that one rank holds, in forward order.
  std::vector<PieceParameters> parameters(const StageChunk& chunk) const;  // chunk_spans.cpp
  /// Returns the messages of a chunk's passes. Simulates at every call.
  ChunkMessages messages(const StageChunk& chunk, bool from_idle) const;  // chunk_spans.cpp

 private:
  ChunkTime simulate(const StageChunk& chunk, bool from_idle) const;

  TimingSite site_;
  /// Times by layers, expert layers, wide layers, embedding, head and from_idle.
  std::map<std::tuple<int, int, int, bool, bool, bool>, ChunkTime> known_;
};

}  // namespace foretrain

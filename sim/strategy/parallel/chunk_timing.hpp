// How long one micro-batch takes through a chunk of layers, forward and backward: kernels, exchanges and the
// host that issues them, layer after layer.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/strategy/parallel/chunk_pieces.hpp"
#include "sim/strategy/parallel/pass_writer.hpp"

namespace foretrain {

/// Seconds of the compute stream: at work, or why it was not.
struct PassTime {
  double total = 0;
  double compute = 0, host = 0;
  double tensor = 0, context = 0, expert = 0, data = 0;  ///< exposed, by group
  PassTime& operator+=(const PassTime& other);
  PassTime times(double factor) const;
};

/// A chunk's passes. `weight` is the part of `backward` that makes weight gradients, as a share of it.
struct ChunkTime {
  PassTime forward, backward;
  double weight_share = 0.5;
  double expert_share = 0;     ///< of the GPU, while tokens are sent to experts
  double issue_s = 0;          ///< what the host needs for both
  double launches = 0;         ///< of both
  double scattered_bytes = 0;  ///< what reduce-scatters of tensor ranks send, of both
  double flops = 0;            ///< of the model, forward and backward, nothing recomputed
};

/// Forward of one micro-batch and backward of another are issued layer by layer in turn, so that the
/// all-to-alls of one run beside the kernels of the other (Megatron-LM's overlap_moe_expert_parallel_comm):
/// what is longer than all kernels stays exposed; kernels lose `gpu_share` while exchanges run.
void hide_expert_exchanges(ChunkTime& time, double gpu_share);  // pass_time.cpp

/// A kernel or an exchange of a pass, in seconds from the pass's beginning.
struct PassSpan {
  PassCharge charge = PassCharge::compute;
  std::string name;
  double begin_s = 0, end_s = 0;
};

/// The parts of a model chunk's forward and backward pass, as they were simulated.
struct ChunkSpans {
  std::vector<PassSpan> forward, backward;
};
/// Exchanges of a chunk's passes, in the order of the host's calls.
struct ChunkMessages {
  std::vector<PassMessage> forward, backward;
};

/// Passes of a chunk one behind the other, as they ran, with three moments of the last: forward from
/// `begin` to `middle`, backward from `middle` to `end`.
struct SimulatedPasses {
  SimulatedPasses(const TimingSite& site, const ChunkPieces& pieces, bool from_idle);
  PassWriter writer;
  Timeline timeline;
  TaskId begin = kNone, middle = kNone, end = kNone;
};

/// Each sort of chunk is simulated once. `from_idle`: the host begins when the pass begins, as behind an
/// exchange that it waited for; else it has run ahead as far as it can.
class ChunkTimer {
 public:
  explicit ChunkTimer(const TimingSite& site);

  const ChunkTime& at(const StageChunk& chunk, bool from_idle);
  /// What its passes are made of, all layers, as long together as at() says. Not kept.
  ChunkSpans spans(const StageChunk& chunk, bool from_idle);  // chunk_spans.cpp
  /// Of each of its pieces, those of a rank, in forward order.
  std::vector<PieceParameters> parameters(const StageChunk& chunk) const;  // chunk_spans.cpp
  /// What they send. Not kept.
  ChunkMessages messages(const StageChunk& chunk, bool from_idle) const;  // chunk_spans.cpp

 private:
  ChunkTime simulate(const StageChunk& chunk, bool from_idle) const;

  TimingSite site_;
  std::map<std::tuple<int, int, int, bool, bool, bool>, ChunkTime> known_;
};

}  // namespace foretrain

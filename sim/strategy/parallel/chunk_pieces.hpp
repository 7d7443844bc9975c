// The pieces of a model chunk (embedding, layers, head) and the time of each of their steps on a GPU and its
// host.
#pragma once

#include <deque>
#include <vector>

#include "sim/strategy/parallel/pass_graph.hpp"
#include "sim/strategy/parallel/rank_groups.hpp"
#include "sim/strategy/parallel/stages.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// The machine that passes are timed on. All referenced objects must outlive everything that is built from
/// it.
struct TimingSite {
  const LargeModelRun& job;
  const Cluster& cluster;
  const DeviceModel& device;
  GroupExchanges& exchanges;
  /// Factor on kernel times: the slowest rank and a busy node.
  double kernel_factor = 1;
  /// Factor on host times: a busy node.
  double host_factor = 1;
  /// Converts host time on the reference CPU to this host's. Returns zero under CUDA graphs, where the host
  /// issues no single calls.
  Time on_host_of_site(Time reference) const;
};

/// One step of a layer with its time on the GPU and on the host.
struct PricedStep {
  Time gpu{}, host{};
  /// Fraction of the GPU that it takes from concurrent kernels.
  double share = 0;
  const LayerStep* step = nullptr;
};

/// A layer, or an end of the network (embedding, norm, head).
struct ChunkPiece {
  LayerProgram program;
  /// Timed steps. Backward starts with the forward steps that recomputation repeats.
  std::vector<PricedStep> forward, backward;
  /// Parameters of one rank, without experts.
  double parameters = 0;
  /// Parameters of the rank's own experts.
  double experts = 0;
  /// Parameters that have to be gathered before the piece runs, without experts.
  double gathered = 0;
  bool is_layer = false;
  /// The head inside a loss over chunks: its parameters are not gathered ahead, and it gathers none ahead.
  bool is_loss = false;
};

/// Parameters of a piece that data-parallel ranks share.
struct PieceParameters {
  double dense = 0, experts = 0;
};

/// The pieces of a chunk in forward order. Equal pieces are timed once and shared, so the cost depends on the
/// kinds of layers and not on their number.
class ChunkPieces {
 public:
  ChunkPieces(const TimingSite& site, const StageChunk& chunk);
  const std::vector<const ChunkPiece*>& in_order() const { return all_; }

 private:
  /// Adds a kind of piece. `uncut`: those of the parameters that every tensor rank holds whole. `is_wide`:
  /// products run in 16 bits where those of other layers run in 4.
  ChunkPiece* add(LayerProgram program, double parameters, double uncut, bool is_layer, bool is_wide = false);
  /// Adds a layer. `experts`: the layer has experts, whose cut parameters are counted apart.
  const ChunkPiece* add_layer(const LayerSlice& slice, const ParameterCount& counts, bool experts,
                              bool is_wide);
  void add_head(const ParameterCount& counts);
  void add_layers(const StageChunk& chunk, const ParameterCount& counts);
  /// Adds, after the head, a layer and the head once more for each further token that the network predicts.
  void add_next_tokens(const ParameterCount& counts);

  const TimingSite& site_;
  /// One piece of each kind; a deque keeps references valid.
  std::deque<ChunkPiece> sorts_;
  /// All pieces, in forward order.
  std::vector<const ChunkPiece*> all_;
};

/// Returns the parameters of one layer times the tensor degree, without those of experts that ranks cut. A
/// rank's own number is this divided by the tensor degree. Experts count as they are cut by the expert
/// degrees.
double dense_parameters(const LargeModelRun& job, const ParameterCount& counts, bool experts);
/// Returns the parameters of the experts that one rank has in a layer; 0 in a network without experts.
double expert_parameters(const LargeModelRun& job, const ParameterCount& counts);

/// Returns the group that exchanges along an axis. Requires an axis that is not `none`.
RankGroup group_of(ParallelAxis along);
/// Return the stream of the exchanges along an axis, and the account of the time spent waiting for them.
PassStream stream_of(ParallelAxis along);
PassCharge charge_of(ParallelAxis along);

}  // namespace foretrain

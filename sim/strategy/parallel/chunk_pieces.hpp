// The embedding, layers and head of a chunk, with what each of their steps takes on a GPU and its host.
#pragma once

#include <deque>
#include <vector>

#include "sim/strategy/parallel/pass_graph.hpp"
#include "sim/strategy/parallel/rank_groups.hpp"
#include "sim/strategy/parallel/stages.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// What passes are priced with; all must outlive what is made of it.
struct TimingSite {
  const LargeModelRun& job;
  const Cluster& cluster;
  const DeviceModel& device;
  GroupExchanges& exchanges;
  double kernel_factor = 1;  ///< slowest rank, busy node
  double host_factor = 1;    ///< busy node
  /// What reference time on the host becomes on this one.
  Time on_host_of_site(Time reference) const;
};

/// One step of a layer with its times.
struct PricedStep {
  Time gpu{}, host{};
  double share = 0;  ///< of the GPU, taken from kernels beside it
  const LayerStep* step = nullptr;
};

/// A layer, or an end of the network.
struct ChunkPiece {
  LayerProgram program;
  std::vector<PricedStep> forward, backward;  ///< backward with what runs again in front
  double parameters = 0;                      ///< of a rank, but for experts
  double experts = 0;                         ///< parameters of a rank's own experts
  double gathered = 0;                        ///< parameters that come together for it, but for experts
  bool is_layer = false;
  bool is_loss = false;  ///< the head inside a loss over chunks: nothing is gathered ahead of it or by it
};

/// What of a piece ranks share out.
struct PieceParameters {
  double dense = 0, experts = 0;
};

/// The pieces of a chunk in forward order; those that are alike are priced once.
class ChunkPieces {
 public:
  ChunkPieces(const TimingSite& site, const StageChunk& chunk);
  const std::vector<const ChunkPiece*>& in_order() const { return all_; }

 private:
  /// `uncut`: of the parameters, those that each tensor rank has whole. `is_wide`: products run in 16 bit
  /// where the others run in 4.
  ChunkPiece* add(LayerProgram program, double parameters, double uncut, bool is_layer, bool is_wide = false);
  /// A layer; experts that ranks cut are a part of its own.
  const ChunkPiece* add_layer(const LayerSlice& slice, const ParameterCount& counts, bool experts,
                              bool is_wide);
  void add_head(const ParameterCount& counts);
  void add_layers(const StageChunk& chunk, const ParameterCount& counts);
  /// A layer and the head once more for each further token that is predicted, behind the head.
  void add_next_tokens(const ParameterCount& counts);

  const TimingSite& site_;
  std::deque<ChunkPiece> sorts_;
  std::vector<const ChunkPiece*> all_;
};

/// Parameters of one layer times the tensor degree: those that a rank has of it, were dense ones not cut.
/// An expert's are cut by the expert degrees instead.
double dense_parameters(const LargeModelRun& job, const ParameterCount& counts, bool experts);
/// Parameters of the experts that one rank has in a layer; 0 in a network without experts.
double expert_parameters(const LargeModelRun& job, const ParameterCount& counts);

/// Who exchanges along some ranks; requires one that is not `none`.
RankGroup group_of(ParallelAxis along);
/// The stream that exchanges along some ranks run on, and what waiting for them is charged to.
PassStream stream_of(ParallelAxis along);
PassCharge charge_of(ParallelAxis along);

}  // namespace foretrain

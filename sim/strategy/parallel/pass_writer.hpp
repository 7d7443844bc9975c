// Writes the passes of a chunk's pieces as tasks of one GPU.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/strategy/parallel/chunk_pieces.hpp"
#include "sim/strategy/parallel/pass_graph.hpp"

namespace foretrain {

/// An exchange among ranks; bytes are counted as CollectiveOp counts them.
struct PassMessage {
  RankGroup group = RankGroup::tensor;
  Exchange exchange = Exchange::all_reduce;
  double bytes = 0;
};

/// A task and its meaning: a step of a layer, or an exchange or copy that sharded parameters or offload need.
struct WrittenTask {
  TaskId task = kNone;
  /// nullptr: `what` names the task.
  const LayerStep* step = nullptr;
  std::string_view what{};
  std::optional<PassMessage> message{};
};

/// Writes passes with the exchanges of sharded parameters: each piece's parameters are gathered while the
/// piece before it runs, and its gradients are scattered after it. Site and pieces must outlive it.
class PassWriter {
 public:
  /// `passes`: number of forward and backward passes for which memory is reserved.
  PassWriter(const TimingSite& site, const ChunkPieces& pieces, int passes);

  /// Write one pass of the chunk; return the mark at its end.
  TaskId forward();
  TaskId backward();
  PassGraph& pass() { return pass_; }
  const PassGraph& pass() const { return pass_; }
  /// Returns kernels and exchanges, in the order of their calls.
  const std::vector<WrittenTask>& written() const { return written_; }

 private:
  /// Order of the gathers of a piece whose experts are cut over other ranks: experts first in backward, last
  /// in forward.
  enum class Order : std::uint8_t { experts_last, experts_first };
  /// Gathers the parameters of a piece; returns the last gather, or kNone if nothing is sharded.
  TaskId gather(const ChunkPiece& piece, Order order);
  TaskId gather(RankGroup group, double parameters);
  /// Reduces the gradients of a piece over the ranks that share them; returns the last exchange.
  TaskId scatter(const ChunkPiece& piece);
  TaskId reduce(RankGroup group, Exchange exchange, double bytes, std::string_view what);
  /// Returns whether the piece has experts that a group of more than one rank shares.
  bool cuts_experts(const ChunkPiece& piece) const {
    return piece.experts > 0 && site_.exchanges.size(RankGroup::expert_gradients) > 1;
  }
  /// Writes the steps of a piece; the first `again` of them are recomputed forward steps.
  void run(const std::vector<PricedStep>& steps, std::size_t again);
  /// Copies the activations of the layer at `place` among the pieces to the host or back, concurrently with
  /// the kernels. Returns kNone if they stay on the GPU.
  TaskId copied(std::size_t place, PassStream stream, TaskId after);
  PassGraph::Exchange sharded(RankGroup group, Exchange exchange, PassStream stream, double bytes);

  const TimingSite& site_;
  const ChunkPieces& pieces_;
  PassGraph pass_;
  /// Host time of an exchange's call, and of the module around a layer.
  Time call_{}, layer_call_{};
  /// Passes gather and scatter; otherwise the whole step does so once.
  bool gathers_in_passes_ = false;
  std::vector<WrittenTask> written_;
};

}  // namespace foretrain

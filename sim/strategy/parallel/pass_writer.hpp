// Writes passes of a chunk's pieces as tasks of one GPU.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/strategy/parallel/chunk_pieces.hpp"
#include "sim/strategy/parallel/pass_graph.hpp"

namespace foretrain {

/// An exchange among ranks; bytes as CollectiveOp counts them.
struct PassMessage {
  RankGroup group = RankGroup::tensor;
  Exchange exchange = Exchange::all_reduce;
  double bytes = 0;
};

/// What a task is: a step of a layer, or what sharded parameters need.
struct WrittenTask {
  TaskId task = kNone;
  const LayerStep* step = nullptr;  ///< nullptr: see `what`
  std::string_view what{};
  std::optional<PassMessage> message{};
};

/// With what sharded parameters need: each piece's are gathered while the one before it runs, and its
/// gradients scattered behind it. Both must outlive it.
class PassWriter {
 public:
  PassWriter(const TimingSite& site, const ChunkPieces& pieces, int passes);

  TaskId forward();
  TaskId backward();
  PassGraph& pass() { return pass_; }
  const PassGraph& pass() const { return pass_; }
  /// Kernels and exchanges, in the order of their calls.
  const std::vector<WrittenTask>& written() const { return written_; }

 private:
  /// Of what ranks share out of a piece: experts before the rest in backward, behind it in forward.
  enum class Order : std::uint8_t { experts_last, experts_first };
  TaskId gather(const ChunkPiece& piece, Order order);
  TaskId gather(RankGroup group, double parameters);
  TaskId scatter(const ChunkPiece& piece);
  TaskId reduce(RankGroup group, Exchange exchange, double bytes, std::string_view what);
  bool cuts_experts(const ChunkPiece& piece) const {
    return piece.experts > 0 && site_.exchanges.size(RankGroup::expert_gradients) > 1;
  }
  void run(const std::vector<PricedStep>& steps, std::size_t again);
  /// Copies the activations of the layer at `place` among the pieces to the host or back, concurrently with
  /// the kernels; kNone where they stay on the GPU.
  TaskId copied(std::size_t place, PassStream stream, TaskId after);
  PassGraph::Exchange sharded(RankGroup group, Exchange exchange, PassStream stream, double bytes);

  const TimingSite& site_;
  const ChunkPieces& pieces_;
  PassGraph pass_;
  Time call_{}, layer_call_{};
  bool gathers_in_passes_ = false;
  std::vector<WrittenTask> written_;
};

}  // namespace foretrain

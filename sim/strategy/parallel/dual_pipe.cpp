// DualPipe's order of passes: micro-batches enter from both ends of the pipeline, and forward passes are
// paired with backward passes.
//
// Every stage holds the layers of two places, one for each direction. It runs a forward pass of one direction
// together with a backward pass of the other, so that the exchanges of one hide behind the kernels of the
// other.
#include <algorithm>
#include <array>
#include <cassert>
#include <deque>
#include <utility>
#include <vector>

#include "sim/strategy/parallel/schedule.hpp"

namespace foretrain {

namespace {

/// One stage, in the eight steps of dualpipe.py. Its own direction is the one whose micro-batches reach it
/// first; `ahead` stages are between it and the middle.
class DualPipeStage {
 public:
  DualPipeStage(int stage, int stages, int micro_batches)
      : stages_(stages),
        half_(micro_batches / 2),
        stage_(stage),
        from_end_(std::min(stage, stages - 1 - stage)),
        ahead_(stages / 2 - 1 - from_end_) {}

  std::vector<StageAction> order() {
    warm_up();
    alternate();
    cool_down();
    assert(waiting_.empty());
    return std::move(order_);
  }

 private:
  // The two directions of micro-batches, from the stage's point of view.
  enum Direction : std::uint8_t { own, opposite };

  // Steps 1 to 3: the pipeline fills up from both ends.
  void warm_up() {
    for (int i = 0; i < 2 * ahead_; ++i) forward(own);
    for (int i = 0; i <= from_end_; ++i) forward(own), forward(opposite);
    for (int i = 0; i < ahead_; ++i) backward(opposite, true), weights(), forward(opposite);
  }
  /// Steps 4 and 5, the steady state. The stages in the middle do not overlap the first two, which "further
  /// reduces bubble size".
  void alternate() {
    for (int i = 0; i < half_ - stages_ + from_end_ + 1; ++i) {
      if (i == 0 && ahead_ == 0)
        forward(own), backward(opposite, false);
      else
        both(own, opposite);
      both(opposite, own);
    }
    for (int i = 0; i < ahead_; ++i) backward(opposite, false), both(opposite, own);
  }
  /// Steps 6 to 8: the pipeline drains. In the second half of step 6 weight gradients are deferred, and later
  /// fill time that would be idle.
  void cool_down() {
    const int pairs = from_end_ + 1;
    for (int i = 0; i < pairs; ++i) {
      backward(opposite, 2 * i >= pairs);
      backward(own, 2 * i + 1 >= pairs);
    }
    for (int i = 0; i < ahead_; ++i) weights(), backward(own, true);
    for (int i = 0; i < pairs; ++i) weights();
  }

  // Appends the next forward pass of a direction.
  void forward(Direction direction, bool is_paired = false) {
    const int turn = forwards_[direction]++;
    order_.push_back({StageWork::forward, micro_batch(direction, turn), chunk(direction), false, is_paired});
  }
  // Appends the next backward pass of a direction; deferred weight gradients are queued.
  void backward(Direction direction, bool leaves_weights) {
    const int turn = backwards_[direction]++;
    order_.push_back({StageWork::backward, micro_batch(direction, turn), chunk(direction), leaves_weights});
    if (leaves_weights) waiting_.push_back(order_.back());
  }
  // Appends a forward and a backward pass that run together.
  void both(Direction forwards, Direction backwards) { forward(forwards, true), backward(backwards, false); }
  // Appends the weight gradients that have waited longest.
  void weights() {
    const StageAction& first = waiting_.front();
    order_.push_back({StageWork::weight_gradient, first.micro_batch, first.chunk});
    waiting_.pop_front();
  }

  /// Returns whether a direction's micro-batches come from the last stage. Stages of the first half see those
  /// from stage 0 first.
  bool comes_from_last(Direction direction) const {
    return (stage_ >= stages_ / 2) != (direction == opposite);
  }
  // Micro-batches from the last stage are the second half of the numbers.
  int micro_batch(Direction direction, int turn) const {
    return turn + (comes_from_last(direction) ? half_ : 0);
  }
  // Chunks 0 to p - 1 belong to the way from stage 0, chunks p to 2p - 1 to the way from stage p - 1.
  int chunk(Direction direction) const {
    return comes_from_last(direction) ? 2 * stages_ - 1 - stage_ : stage_;
  }

  int stages_, half_, stage_, from_end_, ahead_;
  std::array<int, 2> forwards_{}, backwards_{};
  // Backward passes whose weight gradients are still to be computed.
  std::deque<StageAction> waiting_;
  std::vector<StageAction> order_;
};

}  // namespace

std::vector<std::vector<StageAction>> dual_pipe_orders(int stages, int micro_batches) {
  assert(stages % 2 == 0 && micro_batches % 2 == 0 && micro_batches >= 2 * stages);
  std::vector<std::vector<StageAction>> orders;
  for (int stage = 0; stage < stages; ++stage)
    orders.push_back(DualPipeStage(stage, stages, micro_batches).order());
  return orders;
}

}  // namespace foretrain

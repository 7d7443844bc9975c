// DualPipe's order of passes: micro-batches from both ends of the pipeline, forward beside backward.
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
/// first; `ahead` stages lie between it and the middle.
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
  enum Direction : std::uint8_t { own, opposite };

  void warm_up() {
    for (int i = 0; i < 2 * ahead_; ++i) forward(own);
    for (int i = 0; i <= from_end_; ++i) forward(own), forward(opposite);
    for (int i = 0; i < ahead_; ++i) backward(opposite, true), weights(), forward(opposite);
  }
  /// The stages in the middle do not overlap the first two, which "further reduces bubble size".
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
  /// In its second half weight gradients come later and fill what would be empty.
  void cool_down() {
    const int pairs = from_end_ + 1;
    for (int i = 0; i < pairs; ++i) {
      backward(opposite, 2 * i >= pairs);
      backward(own, 2 * i + 1 >= pairs);
    }
    for (int i = 0; i < ahead_; ++i) weights(), backward(own, true);
    for (int i = 0; i < pairs; ++i) weights();
  }

  void forward(Direction direction, bool is_paired = false) {
    const int turn = forwards_[direction]++;
    order_.push_back({StageWork::forward, micro_batch(direction, turn), chunk(direction), false, is_paired});
  }
  void backward(Direction direction, bool leaves_weights) {
    const int turn = backwards_[direction]++;
    order_.push_back({StageWork::backward, micro_batch(direction, turn), chunk(direction), leaves_weights});
    if (leaves_weights) waiting_.push_back(order_.back());
  }
  void both(Direction forwards, Direction backwards) { forward(forwards, true), backward(backwards, false); }
  void weights() {
    const StageAction& first = waiting_.front();
    order_.push_back({StageWork::weight_gradient, first.micro_batch, first.chunk});
    waiting_.pop_front();
  }

  /// Stages of the first half see micro-batches from stage 0 first.
  bool comes_from_last(Direction direction) const {
    return (stage_ >= stages_ / 2) != (direction == opposite);
  }
  int micro_batch(Direction direction, int turn) const {
    return turn + (comes_from_last(direction) ? half_ : 0);
  }
  int chunk(Direction direction) const {
    return comes_from_last(direction) ? 2 * stages_ - 1 - stage_ : stage_;
  }

  int stages_, half_, stage_, from_end_, ahead_;
  std::array<int, 2> forwards_{}, backwards_{};
  std::deque<StageAction> waiting_;  ///< backward passes that left their weights
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

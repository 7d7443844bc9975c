// Greedy packing with a look-ahead past tensors of another type. With one type the look-ahead never goes on:
// a tensor is skipped only for its size, and then message and skipped tensor exceed the threshold together.
// Gathered tensors are messages of their own and end no look-ahead.
//
// Horovod decides by the clock of a background thread, not by the graph. At the end of each cycle (1 ms by
// default) it fuses all tensors that are ready on all ranks. Which tensors share a message therefore depends
// on when gradients arrive, which depends on the host.
#include "sim/strategy/horovod/horovod_fusion.hpp"

#include <deque>
#include <vector>

namespace foretrain {

namespace {

constexpr std::int64_t kPadding = 16;        ///< BATCHED_D2D_PADDING
constexpr std::int64_t kAtomicUnit = 64;     ///< FUSION_BUFFER_ATOMIC_UNIT, elements
constexpr std::int64_t kLargestElement = 8;  ///< bytes of a double

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// True where two tensors may share a message.
bool share(const FusionTensor& a, const FusionTensor& b) {
  return a.element_bytes == b.element_bytes && !a.gathered && !b.gathered;
}

/// The waiting tensors in order: those that were skipped, then those that were not looked at yet.
class WaitingTensors {
 public:
  explicit WaitingTensors(std::span<const FusionTensor> all) : unseen_(all) {}

  bool empty() const { return skipped_.empty() && unseen_.empty(); }
  const FusionTensor& front() const { return skipped_.empty() ? unseen_.front() : skipped_.front(); }
  void pop() {
    if (skipped_.empty())
      unseen_ = unseen_.subspan(1);
    else
      skipped_.pop_front();
  }
  /// Puts skipped tensors back, before all others.
  void put_back(const std::vector<FusionTensor>& popped) {
    skipped_.insert(skipped_.begin(), popped.begin(), popped.end());
  }

 private:
  std::deque<FusionTensor> skipped_;
  std::span<const FusionTensor> unseen_;
};

/// Takes the tensors of one message from the front of `waiting`, and leaves those that were skipped.
FusedMessage take_message(WaitingTensors& waiting, Bytes threshold, bool padded) {
  const auto space = [&](const FusionTensor& tensor) {
    return padded ? rounded_up(tensor.size.count, kPadding) : tensor.size.count;
  };
  const FusionTensor first = waiting.front();
  waiting.pop();
  if (first.gathered) return {{first.parameter}, first.size};
  FusedMessage message{{first.parameter}, {space(first)}};
  std::vector<FusionTensor> skipped;
  std::int64_t skipped_bytes = 0;
  while (!waiting.empty()) {
    const FusionTensor next = waiting.front();
    // A tensor joins, is skipped, or closes the message.
    if (share(first, next) && message.size.count + space(next) <= threshold.count) {
      message.parameters.push_back(next.parameter);
      message.size.count += space(next);
    } else {
      skipped_bytes += space(next);
      if (message.size.count + skipped_bytes > threshold.count) break;
      skipped.push_back(next);
    }
    waiting.pop();
  }
  waiting.put_back(skipped);
  if (!message.is_fused()) message.size = first.size;
  return message;
}

}  // namespace

Bytes rounded_threshold(Bytes asked, int ranks_per_node) {
  return {rounded_up(asked.count, ranks_per_node * kLargestElement * kAtomicUnit)};
}

std::vector<FusedMessage> fuse(std::span<const FusionTensor> waiting, Bytes threshold, bool padded) {
  WaitingTensors left(waiting);
  std::vector<FusedMessage> messages;
  while (!left.empty()) messages.push_back(take_message(left, threshold, padded));
  return messages;
}

}  // namespace foretrain

// The proof follows the data. A message carries the sum of the arrivals that its needs guarantee, whatever
// the timing.
//
// Messages are examined in an order that the needs allow. For each message the content of every chunk at the
// sender is computed from the arrivals that precede it for certain. At the end the content of every rank is
// compared with the post-condition of the operation.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/collective/lanes_dataflow.hpp"

namespace foretrain {

namespace {

/// A chunk that a message brings to a rank.
struct Arrival {
  std::size_t message;
  /// Index of the chunk in the message.
  int part;
};

/// The proof for one set of lanes.
class Proof {
 public:
  explicit Proof(const Lanes& lanes)
      : lanes_(lanes),
        flow_(lanes),
        contract_(lanes.op, lanes.ranks, lanes.chunks, lanes.root, lanes.order) {}

  /// Returns the first fault, or nothing if the lanes are right.
  std::optional<std::string> fail() {
    if (flow_.order().size() != flow_.size()) return "some messages wait for themselves";
    arrived_ = flow_.arrived();
    contents_.resize(flow_.size());
    arrivals_.resize(static_cast<std::size_t>(lanes_.ranks + lanes_.switches) *
                     static_cast<std::size_t>(lanes_.chunks));
    for (const std::size_t m : flow_.order()) send(m);
    for (int rank = 0; rank < lanes_.ranks; ++rank) {
      for (int chunk = 0; chunk < lanes_.chunks && !wrong_; ++chunk) check_end(rank, chunk);
    }
    return wrong_;
  }

 private:
  const Lane& lane(std::size_t m) const { return lanes_.lanes[flow_.lane(m)]; }
  bool adds(std::size_t m) const { return flow_.index(m) < lane(m).first_copy; }
  std::string describe(std::size_t m, int chunk) const {
    return fmt::format("message {} of rank {} to rank {}, chunk {}", flow_.index(m), lane(m).from, lane(m).to,
                       chunk);
  }
  std::vector<Arrival>& arrivals(int rank, int chunk) {
    return arrivals_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(lanes_.chunks) +
                     static_cast<std::size_t>(chunk)];
  }
  /// Returns whether message a arrives before message b in every timing.
  bool in_order(std::size_t a, std::size_t b) const {
    return arrived_[b].has(a) || (flow_.lane(a) == flow_.lane(b) && a < b);
  }

  /// Computes what a message carries, and enters its chunks as arrivals at the receiver.
  void send(std::size_t m) {
    for (int i = 0; i < lane(m).width && !wrong_; ++i) {
      const int chunk = lanes_.chunk(lane(m), flow_.index(m), i);
      contents_[m].push_back(held(lane(m).from, chunk, &arrived_[m]));
      if (!wrong_ && contents_[m].back().empty())
        wrong_ = describe(m, chunk) + ": the sender has nothing there";
      arrivals(lane(m).to, chunk).push_back({m, i});
    }
  }

  /// Returns what a rank holds in a chunk after the messages of `arrived` (nullptr: all).
  Contributions held(int rank, int chunk, const MessageSet* arrived) {
    Contributions sum = contract_.before(rank, chunk);
    std::vector<std::size_t> seen;
    for (const Arrival& arrival : arrivals(rank, chunk)) {
      const std::size_t m = arrival.message;
      if (arrived != nullptr && !arrived->has(m)) continue;
      // The order of two additions does not matter; that of an overwriting message does.
      const bool race =
          std::ranges::any_of(seen, [&](std::size_t s) { return (!adds(s) || !adds(m)) && !in_order(s, m); });
      if (race) return wrong(describe(m, chunk) + ": written twice, in no order");
      seen.push_back(m);
      const Contributions& data = contents_[m][static_cast<std::size_t>(arrival.part)];
      if (!adds(m)) {
        sum = data;
        continue;
      }
      if (sum.empty()) return wrong(describe(m, chunk) + ": the receiver has nothing to add to");
      for (std::size_t i = 0; i < data.size(); ++i) sum[i] += data[i];
    }
    return sum;
  }

  /// Compares what a rank holds at the end with what the operation promises.
  void check_end(int rank, int chunk) {
    const Contributions want = contract_.after(rank, chunk);
    if (want.empty()) return;
    if (held(rank, chunk, nullptr) != want && !wrong_)
      wrong_ =
          fmt::format("{}: rank {} ends with the wrong data in chunk {}", name_of(lanes_.op), rank, chunk);
  }

  /// Keeps the first fault.
  Contributions wrong(std::string what) {
    if (!wrong_) wrong_ = std::move(what);
    return {};
  }

  const Lanes& lanes_;
  Dataflow flow_;
  Contract contract_;
  std::vector<MessageSet> arrived_;
  /// Content by message and by chunk of the message.
  std::vector<std::vector<Contributions>> contents_;
  /// Arrivals by rank and chunk, in a possible order.
  std::vector<std::vector<Arrival>> arrivals_;
  std::optional<std::string> wrong_;
};

/// Returns the first lane that names ranks, chunks or lanes which do not exist.
std::optional<std::string> wrong_lane(const Lanes& lanes) {
  const int holders = lanes.ranks + lanes.switches;
  for (std::size_t l = 0; l < lanes.lanes.size(); ++l) {
    const Lane& lane = lanes.lanes[l];
    const bool ranks_exist =
        lane.from >= 0 && lane.from < holders && lane.to >= 0 && lane.to < holders && lane.from != lane.to;
    const bool chunks_exist = lane.digit >= 0 || (lane.wrap >= 1 && lane.width <= lane.wrap &&
                                                  lane.base >= 0 && lane.base + lane.wrap <= lanes.chunks);
    if (!ranks_exist || !chunks_exist || lane.messages < 1 || lane.width < 1)
      return fmt::format("lane {} from rank {} to rank {} does not exist", l, lane.from, lane.to);
    for (std::uint32_t i = 0; i < lane.needs; ++i) {
      if (lanes.needs[lane.first_need + i].lane >= lanes.lanes.size())
        return fmt::format("lane {} waits for a lane that does not exist", l);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> disprove(const Lanes& lanes) {
  if (std::optional<std::string> wrong =
          wrong_shape(lanes.op, lanes.ranks, lanes.chunks, lanes.root, lanes.order))
    return wrong;
  if (std::optional<std::string> wrong = wrong_lane(lanes)) return wrong;
  return Proof(lanes).fail();
}

}  // namespace foretrain

// Messages of a round become something to wait for when the next round begins.
#include "sim/collective/algorithms/rounds.hpp"

namespace foretrain {

Rounds::Rounds(Lanes& lanes, Waits waits)
    : lanes_(lanes), waits_(waits), received_(static_cast<std::size_t>(lanes.ranks + lanes.switches)) {}

void Rounds::next() {
  for (std::size_t i = 0; i < now_.size(); ++i)
    received_[static_cast<std::size_t>(lanes_.lanes[now_[i]].to)].push_back({now_[i], chunks_now_[i]});
  now_.clear();
  chunks_now_.clear();
}

void Rounds::send(int from, int to, ChunkRange chunks, Transfer::Combine combine) {
  const int first_copy = combine == Transfer::copy ? 0 : 1;
  add({.from = from,
       .to = to,
       .first = chunks.first,
       .width = chunks.width,
       .wrap = lanes_.chunks,
       .first_copy = first_copy},
      chunks);
}

void Rounds::send_digit(int from, int to, int digit, int width) {
  add({.from = from, .to = to, .first = from, .width = width, .digit = digit}, {0, lanes_.chunks});
}

void Rounds::add(Lane lane, ChunkRange chunks) {
  std::vector<LaneNeed> needs;
  for (const Received& received : received_[static_cast<std::size_t>(lane.from)]) {
    if (waits_ == for_all || overlap(received.chunks, chunks)) needs.push_back({received.lane, 0});
  }
  now_.push_back(add_lane(lanes_, lane, needs));
  chunks_now_.push_back(chunks);
}

bool Rounds::overlap(ChunkRange a, ChunkRange b) const {
  const auto ahead = [&](int from, int to) {
    return ((to - from) % lanes_.chunks + lanes_.chunks) % lanes_.chunks;
  };
  return ahead(a.first, b.first) < a.width || ahead(b.first, a.first) < b.width;
}

}  // namespace foretrain

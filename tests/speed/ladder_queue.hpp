// A ladder queue with the interface of MomentQueue, to measure against it.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "sim/engine/moment_queue.hpp"

namespace foretrain::test {

/// Tang, Goh and Thng, "Ladder queue: an O(1) priority queue structure for large-scale discrete event
/// simulation" (2005). Far moments lie unsorted at the top; when the near ones are used up they are spread
/// over the buckets of a rung, a bucket that is still large over those of a finer rung, and a small one is
/// sorted to the bottom.
class LadderQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// The first moment; requires that there is one.
  const Moment& top();
  Moment pop();
  void push(const Moment& moment);

 private:
  static constexpr std::size_t kMostRungs = 8;
  static constexpr std::size_t kSorted = 48;         ///< a bucket of no more goes to the bottom
  static constexpr std::size_t kMostInserted = 192;  ///< a bottom of more goes back to a rung
  static bool comes_later(const Moment& a, const Moment& b) { return b < a; }
  /// Equal stretches of time, each with its moments in no order.
  struct Rung {
    Time start{}, width{1};
    std::size_t next = 0, buckets = 0;
    std::vector<std::vector<Moment>> bucket;
    Time next_start() const { return start + width * static_cast<std::int64_t>(next); }
    void add(const Moment& moment) {
      bucket[static_cast<std::size_t>((moment.time - start) / width)].push_back(moment);
    }
  };

  void spread(std::vector<Moment>& moments, Time from, Time end);
  void spread_top();
  void fill_bottom();
  void insert_into_bottom(const Moment& moment);

  std::size_t size_ = 0, rungs_ = 0;
  Time top_start_{};
  std::vector<Moment> top_;            ///< from top_start_ on, in no order
  std::array<Rung, kMostRungs> rung_;  ///< each covers one bucket of the one before
  std::vector<Moment> bottom_;         ///< what comes next, last first
};

inline const Moment& LadderQueue::top() {
  if (bottom_.empty()) fill_bottom();
  return bottom_.back();
}

inline Moment LadderQueue::pop() {
  const Moment first = top();
  bottom_.pop_back();
  --size_;
  return first;
}

inline void LadderQueue::push(const Moment& moment) {
  ++size_;
  if (moment.time >= top_start_) return top_.push_back(moment);
  for (std::size_t r = 0; r < rungs_; ++r) {
    if (moment.time >= rung_[r].next_start()) return rung_[r].add(moment);
  }
  insert_into_bottom(moment);
}

/// Moments of [from, end) go to a new rung with about as many buckets as there are moments.
inline void LadderQueue::spread(std::vector<Moment>& moments, Time from, Time end) {
  Rung& rung = rung_[rungs_++];
  const auto count = static_cast<std::int64_t>(moments.size());
  rung.start = from;
  rung.width = (end - from) / count + Time{1};
  rung.next = 0;
  rung.buckets = static_cast<std::size_t>((end - from) / rung.width) + 1;
  if (rung.bucket.size() < rung.buckets) rung.bucket.resize(rung.buckets);
  for (const Moment& moment : moments) rung.add(moment);
  moments.clear();
}

/// What comes later into the last bucket belongs to it.
inline void LadderQueue::spread_top() {
  const auto [first, last] = std::minmax_element(top_.begin(), top_.end());
  spread(top_, first->time, last->time + Time{1});
  top_start_ = rung_[0].start + rung_[0].width * static_cast<std::int64_t>(rung_[0].buckets);
}

inline void LadderQueue::fill_bottom() {
  assert(size_ > 0);
  while (bottom_.empty()) {
    if (rungs_ == 0) spread_top();
    Rung& rung = rung_[rungs_ - 1];
    while (rung.next < rung.buckets && rung.bucket[rung.next].empty()) ++rung.next;
    if (rung.next == rung.buckets) {
      --rungs_;
      continue;
    }
    std::vector<Moment>& bucket = rung.bucket[rung.next];
    const Time from = rung.next_start();
    ++rung.next;
    if (bucket.size() > kSorted && rung.width > Time{1} && rungs_ < kMostRungs) {
      spread(bucket, from, from + rung.width);
      continue;
    }
    bottom_.swap(bucket);
    std::sort(bottom_.begin(), bottom_.end(), comes_later);
  }
}

inline void LadderQueue::insert_into_bottom(const Moment& moment) {
  bottom_.insert(std::upper_bound(bottom_.begin(), bottom_.end(), moment, comes_later), moment);
  const bool has_one_time = bottom_.front().time == bottom_.back().time;
  if (bottom_.size() <= kMostInserted || has_one_time || rungs_ == kMostRungs) return;
  const Time end = rungs_ == 0 ? top_start_ : rung_[rungs_ - 1].next_start();
  spread(bottom_, bottom_.back().time, end);
}

}  // namespace foretrain::test

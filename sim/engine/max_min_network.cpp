// Fluid network with max-min sharing.
//
// Between two changes of the set of flows all rates are constant, so the bytes left fall linearly, and the
// next end is a minimum over the flows. When flows start or end, the bytes left are brought up to date, the
// rates are solved anew, and each flow's end is predicted, rounded up to a picosecond. Several flows that
// start or end at one moment are solved once. A flow ends when the clock reaches its predicted end, never
// because its bytes left look like zero.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "sim/engine/max_min.hpp"
#include "sim/engine/network.hpp"

namespace foretrain {

namespace {

constexpr Time kNever = Time::max();

/// Returns when `bytes_left` are sent at `rate` bytes per second, rounded up to a picosecond; kNever at a
/// rate of 0.
Time end_after(Time now, double bytes_left, double rate) {
  if (std::isinf(rate) || bytes_left <= 0) return now;
  if (!(rate > 0)) return kNever;
  const double picos = std::ceil(bytes_left / rate * 1e12);
  if (picos >= static_cast<double>(kLongestTime.count())) return kNever;
  return now + Time{static_cast<std::int64_t>(picos)};
}

class MaxMinNetwork final : public Network {
 public:
  explicit MaxMinNetwork(std::vector<ByteRate> capacities) : solver_(std::move(capacities)) {}

  void start(FlowId flow, std::span<const LinkShare> route, Bytes bytes, Time now) override {
    progress_to(now);
    flows_.push_back({flow, route, static_cast<double>(bytes.count), 0, kNever});
    changed_ = true;
  }

  Time next_end() override {
    if (changed_) solve();
    return next_end_;
  }

  void advance(Time now, std::vector<FlowId>& ended) override {
    if (next_end() > now) return progress_to(now);
    progress_to(now);
    const std::size_t first = ended.size();
    for (const Active& flow : flows_) {
      if (flow.end <= now) ended.push_back(flow.id);
    }
    std::erase_if(flows_, [now](const Active& flow) { return flow.end <= now; });
    std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
    changed_ = true;
  }

  std::span<const ByteRate> capacities() const override { return solver_.capacities(); }

 private:
  /// A flow in progress. `end` is predicted at the last solution.
  struct Active {
    FlowId id;
    std::span<const LinkShare> route;
    double bytes_left;
    double rate;
    Time end;
  };

  /// Moves the clock to `now` and subtracts the bytes sent since. Rates must be those of this interval, so a
  /// pending change is solved first.
  void progress_to(Time now) {
    assert(now >= now_);
    if (now == now_) return;
    if (changed_) solve();
    const double elapsed = to_seconds(now - now_);
    for (Active& flow : flows_) flow.bytes_left = std::max(0.0, flow.bytes_left - flow.rate * elapsed);
    now_ = now;
  }

  /// Computes the rates and ends of all flows from `now_` on.
  void solve() {
    solver_.clear();
    for (const Active& flow : flows_) solver_.add_flow(flow.route);
    const std::vector<double>& rates = solver_.solve();
    next_end_ = kNever;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      flows_[i].rate = std::isinf(rates[i]) ? 0 : rates[i];
      flows_[i].end = end_after(now_, flows_[i].bytes_left, rates[i]);
      next_end_ = std::min(next_end_, flows_[i].end);
    }
    changed_ = false;
  }

  MaxMinSolver solver_;
  std::vector<Active> flows_;
  /// The moment to which bytes_left of all flows refers.
  Time now_{};
  Time next_end_ = kNever;
  bool changed_ = false;
};

}  // namespace

std::unique_ptr<Network> make_max_min_network(std::vector<ByteRate> capacities) {
  return std::make_unique<MaxMinNetwork>(std::move(capacities));
}

}  // namespace foretrain

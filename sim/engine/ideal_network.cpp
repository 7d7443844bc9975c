// A network without contention: the end of a flow is known when it starts.
//
// It serves as a lower bound and in tests. With it, a simulation differs from the closed form only by the
// graph.
#include <algorithm>
#include <limits>

#include "sim/engine/network.hpp"

namespace foretrain {

namespace {

/// A model in which each flow runs at the smallest capacity of its route, whatever else is active.
class IdealNetwork final : public Network {
 public:
  explicit IdealNetwork(std::vector<ByteRate> capacities) : capacities_(std::move(capacities)) {}

  void start(FlowId flow, std::span<const LinkShare> route, Bytes bytes, Time now) override {
    ByteRate narrowest{std::numeric_limits<double>::infinity()};
    for (const LinkShare& hop : route) narrowest = std::min(narrowest, capacities_[hop.link]);
    flows_.push_back({now + bytes / narrowest, flow});
  }

  Time next_end() override {
    const auto first = std::min_element(flows_.begin(), flows_.end());
    return first == flows_.end() ? Time::max() : first->end;
  }

  void advance(Time now, std::vector<FlowId>& ended) override {
    const std::size_t first = ended.size();
    for (const Active& flow : flows_) {
      if (flow.end <= now) ended.push_back(flow.id);
    }
    std::erase_if(flows_, [now](const Active& flow) { return flow.end <= now; });
    std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
  }

  std::span<const ByteRate> capacities() const override { return capacities_; }

 private:
  /// A flow in progress; ordered by end, then by id.
  struct Active {
    Time end;
    FlowId id;
    auto operator<=>(const Active&) const = default;
  };
  std::vector<ByteRate> capacities_;
  std::vector<Active> flows_;
};

}  // namespace

std::unique_ptr<Network> make_ideal_network(std::vector<ByteRate> capacities) {
  return std::make_unique<IdealNetwork>(std::move(capacities));
}

}  // namespace foretrain

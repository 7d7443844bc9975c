// Every evaluated number of GPUs goes into a table; thresholds are read off it, then sharpened between the two evaluated
// neighbours. Curves may dip at node boundaries, so the first two nodes are searched GPU by GPU.
#include "sim/analysis/crossover.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace foretrain {

namespace {

using Evaluated = std::map<int, Throughput>;

/// A gain below this is not worth a node-hour: it is within the run-to-run spread of any measurement.
constexpr double kNoticeable = 1.001;

class Search {
 public:
  Search(const ThroughputFunction& throughput, int most, int per_node, int budget)
      : throughput_(throughput), most_(most), per_node_(per_node), budget_(budget) {}

  void sample() {
    const int dense = std::min({most_, 2 * per_node_, budget_ / 2});
    for (int n = 1; n <= dense; ++n) at(n);
    const int nodes = most_ / per_node_;
    const int spare = std::max(4, budget_ - dense);
    if (nodes <= spare) {
      for (int node = 1; node <= nodes; ++node) at(node * per_node_);
    } else {
      const double ratio = std::pow(static_cast<double>(nodes), 1.0 / spare);
      for (double node = 1; node < nodes; node = std::max(node + 1, node * ratio)) at(static_cast<int>(node) * per_node_);
    }
    at(most_);
  }

  const Throughput& at(int n) {
    const auto found = seen_.find(n);
    return found != seen_.end() ? found->second : seen_.emplace(n, throughput_(n)).first->second;
  }

  const Evaluated& seen() const { return seen_; }

  /// Smallest N > 1 for which `holds`, exact between the evaluated neighbours when `holds` changes once there.
  template <class Predicate>
  std::optional<int> first(Predicate holds) {
    int before = 1;
    for (auto it = seen_.upper_bound(1); it != seen_.end(); ++it) {
      if (holds(it->first, it->second)) return bisect(before, it->first, holds);
      before = it->first;
    }
    return std::nullopt;
  }

 private:
  template <class Predicate>
  int bisect(int no, int yes, Predicate holds) {
    while (yes - no > 1) {
      const int middle = no + (yes - no) / 2;
      (holds(middle, at(middle)) ? yes : no) = middle;
    }
    return yes;
  }

  const ThroughputFunction& throughput_;
  int most_, per_node_, budget_;
  Evaluated seen_;
};

int fastest_of(const Evaluated& seen) {
  int best = 1;
  for (const auto& [n, throughput] : seen) {
    if (throughput.samples_per_s > seen.at(best).samples_per_s * kNoticeable) best = n;
  }
  return best;
}

struct Loss {
  double seconds;
  std::string_view words;
};

/// What grew between the two steps, largest first.
std::vector<Loss> losses(const Throughput& one, const Throughput& many) {
  static constexpr std::array<std::string_view, kAccountCount> kWords{"slower kernels (stragglers and NCCL sharing the GPU)",
                                                                      "waiting for gradients to be all-reduced",
                                                                      "waiting for input batches",
                                                                      "the host launching more work",
                                                                      "the optimizer",
                                                                      "copying gradients and buffers for communication"};
  std::vector<Loss> found;
  for (std::size_t account = 0; account < kAccountCount; ++account)
    found.push_back({many.breakdown[account] - one.breakdown[account], kWords[account]});
  std::sort(found.begin(), found.end(), [](const Loss& a, const Loss& b) { return a.seconds > b.seconds; });
  return found;
}

std::string_view largest_part(const Throughput& step) {
  static constexpr std::array<std::string_view, kAccountCount> kWords{
      "compute", "exposed communication", "the input pipeline", "the host (Python and kernel launches)", "the optimizer", "bucket copies"};
  return kWords[static_cast<std::size_t>(std::max_element(step.breakdown.begin(), step.breakdown.end()) - step.breakdown.begin())];
}

}  // namespace

std::string explain_loss(const Throughput& one, const Throughput& many, int gpus) {
  const double growth = many.step_s - one.step_s;
  if (growth <= 0.005 * one.step_s)
    return fmt::format("{} bounds the step; at {} GPUs it is hardly longer than on one", largest_part(many), gpus);
  const std::vector<Loss> found = losses(one, many);
  std::string parts;
  for (const Loss& loss : found) {
    if (loss.seconds < 0.15 * growth) break;
    parts += fmt::format("{}{:.2f} ms {}", parts.empty() ? "" : ", ", loss.seconds * 1e3, loss.words);
  }
  return fmt::format("{} bounds the step; at {} GPUs it is {:.2f} ms longer than on one: {}", largest_part(many), gpus, growth * 1e3,
                     parts);
}

Crossover find_crossover(const ThroughputFunction& throughput, int most_gpus, int gpus_per_node, int budget) {
  Search search(throughput, most_gpus, gpus_per_node, budget);
  search.sample();
  const Throughput one = search.at(1);
  const auto efficiency_below = [&](double limit) {
    return search.first([&one, limit](int n, const Throughput& t) { return t.samples_per_s < limit * n * one.samples_per_s; });
  };
  Crossover found;
  found.slower_than_one_gpu_from = search.first([&one](int, const Throughput& t) { return t.samples_per_s < one.samples_per_s; });
  found.efficiency_below_90 = efficiency_below(0.9);
  found.efficiency_below_80 = efficiency_below(0.8);
  found.efficiency_below_50 = efficiency_below(0.5);
  found.fastest_gpus = fastest_of(search.seen());
  if (found.fastest_gpus < most_gpus) found.no_gain_from = found.fastest_gpus + 1;
  const int telling = found.slower_than_one_gpu_from.value_or(found.efficiency_below_90.value_or(most_gpus));
  found.cause = most_gpus > 1 ? explain_loss(one, search.at(telling), telling) : "the cluster has one GPU";
  return found;
}

}  // namespace foretrain

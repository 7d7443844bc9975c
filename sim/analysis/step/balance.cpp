// Water-filling over linear models. The time of a step is nearly linear in the batch, so two simulations of
// each kind give a line. Bisection finds the time at which all ranks together finish the samples. Two further
// rounds fit the lines near that solution. The fractional batches are rounded down, and the remaining samples
// go one by one to the kind that finishes one more soonest.
#include "sim/analysis/step/balance.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain {

namespace {

/// Rounds that fit the lines again near the solution.
constexpr int kCorrections = 2;
/// Doublings and halvings of the search for the common finishing time; double precision ends earlier.
constexpr int kBisections = 200;

/// Seconds of a step of one kind, as a straight line in the batch.
struct Line {
  double at_zero = 0, per_sample = 0;
  double seconds(double batch) const { return at_zero + per_sample * batch; }
};

/// Returns the line through the simulated times at two batches, with a slope that is always positive.
Line line_through(const BalancedKind& kind, std::int64_t low, std::int64_t high) {
  const double at_low = kind.seconds(low), at_high = kind.seconds(high);
  // A step that does not grow with its batch gets a tiny slope, so that the line can be inverted.
  const double slope =
      std::max((at_high - at_low) / static_cast<double>(high - low), 1e-9 * std::max(at_low, 1e-12));
  return {at_low - slope * static_cast<double>(low), slope};
}

/// Returns the batch that one rank of the kind finishes by the time `when`: at least 1, and at most what
/// fits.
double done_by(const Line& line, const BalancedKind& kind, double when, bool within_memory) {
  const double most = within_memory ? static_cast<double>(kind.most) : 1e15;
  return std::clamp((when - line.at_zero) / line.per_sample, 1.0, std::max(1.0, most));
}

/// Returns fractional batches, by kind, with which all ranks that can take more finish at the same time.
std::vector<double> shares(const std::vector<BalancedKind>& kinds, const std::vector<Line>& lines,
                           double samples, bool within_memory) {
  const auto done = [&](double when) {
    double sum = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k)
      sum += kinds[k].ranks * done_by(lines[k], kinds[k], when, within_memory);
    return sum;
  };
  double low = 0, high = 1;
  // The upper bound doubles until all samples are done by then; bisection then narrows the time.
  for (int i = 0; i < kBisections && done(high) < samples; ++i) high *= 2;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (done(middle) < samples ? low : high) = middle;
  }
  std::vector<double> batches;
  for (std::size_t k = 0; k < kinds.size(); ++k)
    batches.push_back(done_by(lines[k], kinds[k], high, within_memory));
  return batches;
}

/// Returns true if all ranks together have memory for the samples.
bool has_memory(const std::vector<BalancedKind>& kinds, std::int64_t samples) {
  std::int64_t room = 0;
  for (const BalancedKind& kind : kinds) room += kind.ranks * std::max<std::int64_t>(1, kind.most);
  return room >= samples;
}

/// Returns the kind that would finish first with one more sample on one of its ranks; kinds.size() if no kind
/// may take one.
std::size_t soonest(const std::vector<BalancedKind>& kinds, const std::vector<Line>& lines,
                    const std::vector<KindBatches>& batches, bool within_memory) {
  std::size_t best = kinds.size();
  double ready = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (kinds[k].ranks == 0 || (within_memory && batches[k].batch >= kinds[k].most)) continue;
    const double then = lines[k].seconds(static_cast<double>(batches[k].batch + 1));
    if (best == kinds.size() || then < ready) best = k, ready = then;
  }
  return best;
}

/// Rounds the fractional batches down and deals out the remaining samples one by one. A kind of which every
/// rank has one more sample starts again with a batch that is larger by one.
std::vector<KindBatches> whole(const std::vector<BalancedKind>& kinds, const std::vector<Line>& lines,
                               const std::vector<double>& wanted, std::int64_t samples, bool within_memory) {
  std::vector<KindBatches> batches;
  std::int64_t left = samples;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    batches.push_back(
        {std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(wanted[k] + 1e-9))), 0});
    left -= kinds[k].ranks * batches.back().batch;
  }
  for (; left > 0; --left) {
    const std::size_t k = soonest(kinds, lines, batches, within_memory);
    if (k == kinds.size()) break;
    if (++batches[k].one_more == kinds[k].ranks) ++batches[k].batch, batches[k].one_more = 0;
  }
  return batches;
}

}  // namespace

std::vector<KindBatches> balance(const std::vector<BalancedKind>& kinds, std::int64_t samples) {
  std::int64_t ranks = 0;
  for (const BalancedKind& kind : kinds) ranks += kind.ranks;
  const std::int64_t even = std::max<std::int64_t>(1, samples / std::max<std::int64_t>(1, ranks));
  const bool within_memory = has_memory(kinds, samples);
  std::vector<Line> lines(kinds.size());
  std::vector<double> wanted(kinds.size(), static_cast<double>(even));
  for (int round = 0; round <= kCorrections; ++round) {
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      if (kinds[k].ranks == 0) continue;
      const auto near = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(wanted[k])));
      // The first round takes a wide interval around the even share, later ones two adjacent batches.
      lines[k] = round == 0 ? line_through(kinds[k], std::max<std::int64_t>(1, even / 2), 2 * even)
                            : line_through(kinds[k], near, near + 1);
    }
    for (Line& line : lines) line.per_sample = std::max(line.per_sample, 1e-18);
    wanted = shares(kinds, lines, static_cast<double>(samples), within_memory);
  }
  return whole(kinds, lines, wanted, samples, within_memory);
}

}  // namespace foretrain

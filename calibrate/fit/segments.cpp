// The least sum of losses and prices over all ways to cut the points: the best way up to a point is the best
// way up to where its last piece begins, and that piece.
#include "calibrate/fit/segments.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "calibrate/fit/robust_scale.hpp"

namespace foretrain::fit {

namespace {

constexpr std::size_t kMostPoints =
    128;  ///< more are merged with their neighbours; no more than half as many pieces come out
constexpr std::size_t kShortest = 2;  ///< points of a piece, when there are as many

/// The median of points of one size, with its standard error as the repeats show it, or as the points state
/// it.
MergedPoint merged(const std::vector<SizePoint>& same) {
  std::vector<double> times, stated, deviations;
  for (const SizePoint& p : same) times.push_back(p.seconds), stated.push_back(p.spread);
  const double middle = median(times);
  for (const double time : times) deviations.push_back(std::abs(std::log(time / middle)));
  const double shown = same.size() >= 3 ? 1.4826 * median(std::move(deviations)) : 0;
  const double of_one = std::max(shown, median(std::move(stated)));
  return {same.front().bytes, middle, static_cast<int>(same.size()),
          1.25 * of_one / std::sqrt(static_cast<double>(same.size()))};
}

std::vector<MergedPoint> merged_by_size(std::vector<SizePoint> points) {
  std::sort(points.begin(), points.end(),
            [](const SizePoint& a, const SizePoint& b) { return a.bytes < b.bytes; });
  std::vector<MergedPoint> out;
  for (std::size_t i = 0; i < points.size();) {
    std::vector<SizePoint> same;
    const double bytes = points[i].bytes;
    for (; i < points.size() && points[i].bytes == bytes; ++i) same.push_back(points[i]);
    out.push_back(merged(same));
  }
  return out;
}

/// Neighbours in equal groups, each as the mean size and the mean time, which lie on the line that the points
/// lie on.
std::vector<MergedPoint> thinned(const std::vector<MergedPoint>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<MergedPoint> out;
  for (std::size_t group = 0; group < kMostPoints; ++group) {
    const std::size_t begin = group * points.size() / kMostPoints,
                      end = (group + 1) * points.size() / kMostPoints;
    MergedPoint sum{0, 0, 0, 0};
    for (std::size_t i = begin; i < end; ++i) {
      sum.bytes += points[i].bytes, sum.seconds += points[i].seconds, sum.count += points[i].count;
      sum.spread = std::max(sum.spread, points[i].spread);
    }
    const auto n = static_cast<double>(end - begin);
    out.push_back({sum.bytes / n, sum.seconds / n, sum.count});
  }
  return out;
}

/// Where each piece of the best cut begins.
std::vector<std::size_t> best_cut(const std::vector<MergedPoint>& points, double noise) {
  const std::size_t n = points.size();
  const double price = price_of_piece(n);
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin_of_last(n + 1, 0);
  best[0] = 0;
  for (std::size_t end = std::min(kShortest, n); end <= n; ++end) {
    for (std::size_t begin = 0; begin + std::min(kShortest, n) <= end; ++begin) {
      if (!std::isfinite(best[begin])) continue;
      const double loss = best[begin] + price + fit_piece({points.data() + begin, end - begin}, noise).loss;
      if (loss < best[end]) best[end] = loss, begin_of_last[end] = begin;
    }
  }
  std::vector<std::size_t> begins;
  for (std::size_t end = n; end > 0; end = begin_of_last[end]) begins.push_back(begin_of_last[end]);
  std::reverse(begins.begin(), begins.end());
  return begins;
}

}  // namespace

std::vector<Segment> fit_segments(std::vector<SizePoint> points) {
  if (points.empty()) return {};
  for ([[maybe_unused]] const SizePoint& p : points)
    assert(p.bytes > 0 && p.seconds > 0 && std::isfinite(p.bytes) && std::isfinite(p.seconds));
  const std::vector<MergedPoint> all = thinned(merged_by_size(std::move(points)));
  const double noise = noise_of(all);
  const std::vector<std::size_t> begins = best_cut(all, noise);
  std::vector<Segment> out;
  for (std::size_t k = 0; k < begins.size(); ++k) {
    const std::size_t end = k + 1 < begins.size() ? begins[k + 1] : all.size();
    out.push_back(fit_piece({all.data() + begins[k], end - begins[k]}, noise).segment);
  }
  return out;
}

double time_at(const std::vector<Segment>& segments, double bytes) {
  assert(!segments.empty());
  const auto next =
      std::find_if(segments.begin(), segments.end(), [&](const Segment& s) { return bytes <= s.most; });
  if (next == segments.end()) return segments.back().at(bytes);
  if (bytes >= next->least) return next->at(bytes);
  if (next == segments.begin()) return next->at(next->least);
  const Segment& before = *(next - 1);
  const double share = (bytes - before.most) / (next->least - before.most);
  return (1 - share) * before.at(before.most) + share * next->at(next->least);
}

}  // namespace foretrain::fit

// Two unknowns that may not be negative: the free solution where it is allowed, else the better of latency
// alone and slope alone.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "calibrate/fit/robust_scale.hpp"
#include "calibrate/fit/segments.hpp"

namespace foretrain::fit {

namespace {

constexpr double kLeastNoise = 0.003, kMostNoise = 0.015;
constexpr double kCauchyBend =
    2.385;  ///< Cauchy's weights, 95 % efficient on normal residuals; far points count nothing
constexpr int kPasses = 4;

/// latency + slope x bytes with weights. Sizes are taken relative to the largest, so that sums keep their
/// digits.
struct Line {
  double latency = 0, slope = 0;
};

Line weighted_line(std::span<const MergedPoint> points, const std::vector<double>& weights) {
  const double unit = points.back().bytes;
  double w = 0, x = 0, y = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    w += weights[i], x += weights[i] * points[i].bytes / unit, y += weights[i] * points[i].seconds;
  }
  x /= w, y /= w;
  double xx = 0, xy = 0, around_zero_xx = 0, around_zero_xy = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double size = points[i].bytes / unit;
    xx += weights[i] * (size - x) * (size - x), xy += weights[i] * (size - x) * (points[i].seconds - y);
    around_zero_xx += weights[i] * size * size, around_zero_xy += weights[i] * size * points[i].seconds;
  }
  const double slope = xx > 0 ? xy / xx : 0;
  if (slope <= 0) return {y, 0};
  if (y - slope * x < 0) return {0, around_zero_xy / around_zero_xx / unit};
  return {y - slope * x, slope / unit};
}

/// Of the points that know theirs; 0 where none does.
double usual_spread(std::span<const MergedPoint> points) {
  std::vector<double> known;
  for (const MergedPoint& p : points) {
    if (p.spread > 0) known.push_back(p.spread);
  }
  return median(std::move(known));
}

double at(const Line& line, double bytes) { return line.latency + line.slope * bytes; }

/// Relative to the fit, less where the point is far from it.
double weight_of(const MergedPoint& p, const Line& line, double noise) {
  const double fitted = at(line, p.bytes);
  const double far = std::log(p.seconds / fitted) / (kCauchyBend * noise);
  return p.count / (fitted * fitted) / (1 + far * far);
}

}  // namespace

double price_of_piece(std::size_t points) {
  return 3 * std::log(static_cast<double>(std::max<std::size_t>(points, 2)));
}

double noise_of(std::span<const MergedPoint> points) {
  const double most = std::max(kMostNoise, usual_spread(points));
  std::vector<double> deviations;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const MergedPoint &a = points[i - 1], &b = points[i], &c = points[i + 1];
    const double share = (b.bytes - a.bytes) / (c.bytes - a.bytes);
    const double line = (1 - share) * a.seconds + share * c.seconds;
    const double variance =
        1 + std::pow((1 - share) * a.seconds / line, 2) + std::pow(share * c.seconds / line, 2);
    deviations.push_back(std::abs(std::log(b.seconds / line)) / std::sqrt(variance));
  }
  if (deviations.size() < 3) return most;
  return std::clamp(1.4826 * median(std::move(deviations)), kLeastNoise, most);
}

Piece fit_piece(std::span<const MergedPoint> points, double noise) {
  assert(!points.empty() && noise > 0);
  std::vector<double> weights;
  for (const MergedPoint& p : points) weights.push_back(p.count / (p.seconds * p.seconds));
  Line line = weighted_line(points, weights);
  for (int pass = 0; pass < kPasses && points.size() > 2; ++pass) {
    for (std::size_t i = 0; i < points.size(); ++i) weights[i] = weight_of(points[i], line, noise);
    line = weighted_line(points, weights);
  }
  Piece piece{{points.front().bytes, points.back().bytes, line.latency, line.slope, 0, 0}, 0};
  std::vector<double> residuals;
  for (const MergedPoint& p : points) {
    residuals.push_back(std::abs(std::log(p.seconds / at(line, p.bytes))));
    piece.loss += std::min(std::pow(residuals.back() / noise, 2), kMostLoss);
    piece.segment.samples += p.count;
  }
  const double widening = std::sqrt(static_cast<double>(points.size()) /
                                    std::max<double>(1, static_cast<double>(points.size()) - 2));
  piece.segment.spread =
      std::max(1.4826 * median(std::move(residuals)) * widening, points.size() > 2 ? 0 : noise);
  return piece;
}

}  // namespace foretrain::fit

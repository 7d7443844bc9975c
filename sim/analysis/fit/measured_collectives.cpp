// The model and the measured pieces compete on sizes that neither has seen; the better one predicts the
// cluster's collectives.
#include "sim/analysis/fit/measured_collectives.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "calibrate/fit/segments.hpp"
#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"

namespace foretrain {

namespace {

/// Fewest sizes of a curve.
constexpr std::size_t kFewestSizes = 3;
/// Fewest sizes that can be divided into seen and held-out ones.
constexpr std::size_t kFewestToCut = 5;

/// Factor on the pieces' error in the comparison. The pieces that are kept see twice as many sizes as those
/// compared, and between sizes half as far apart they are off by about half.
constexpr double kHandicap = 0.5;
/// Error below which the model is not better: two runs of one job differ by as much.
constexpr double kGoodEnough = 0.02;

/// The points of one curve in seconds, each with the model's value; 0 where there is none.
struct Curve {
  std::vector<fit::SizePoint> points;
  std::vector<double> modelled;
};

std::map<CollectiveKey, Curve> curves_of(const std::vector<Sample>& samples,
                                         const SamplePredictions& modelled) {
  std::map<CollectiveKey, Curve> curves;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& s = samples[i];
    if (s.kind != SampleKind::collective || s.gpus < 2) continue;
    Curve& curve = curves[key_of(s)];
    curve.points.push_back({static_cast<double>(s.bytes), s.value * 1e-6, s.spread});
    curve.modelled.push_back(modelled[i].value_or(0) * 1e-6);
  }
  return curves;
}

/// Mean errors |log(predicted / measured)| of both on the held-out sizes.
struct Contest {
  double pieces = 0, model = 0;
};

/// Compares on every second size between the smallest and the largest. Without such a size neither is worse.
Contest contest_of(const Curve& curve) {
  std::set<double> sizes;
  for (const fit::SizePoint& p : curve.points) sizes.insert(p.bytes);
  const auto is_held = [&sizes](double bytes) {
    const auto place = std::distance(sizes.begin(), sizes.find(bytes));
    return place % 2 == 1 && bytes < *sizes.rbegin();
  };
  std::vector<fit::SizePoint> seen;
  std::ranges::copy_if(curve.points, std::back_inserter(seen),
                       [&](const auto& p) { return !is_held(p.bytes); });
  const std::vector<fit::Segment> pieces = fit::fit_segments(std::move(seen));
  Contest out;
  int held = 0;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const fit::SizePoint& p = curve.points[i];
    if (!is_held(p.bytes) || !(curve.modelled[i] > 0)) continue;
    out.pieces += std::abs(std::log(fit::time_at(pieces, p.bytes) / p.seconds));
    out.model += std::abs(std::log(curve.modelled[i] / p.seconds));
    ++held;
  }
  if (held > 0) out.pieces /= held, out.model /= held;
  return out;
}

/// Fits the pieces to all sizes of the curve.
CalibratedCollective calibrated_collective(const CollectiveKey& key, std::vector<fit::SizePoint> points) {
  CalibratedCollective measured;
  std::tie(measured.op, measured.gpus, measured.nodes, measured.processes_per_node, measured.algorithm,
           measured.protocol) = key;
  for (const fit::Segment& piece : fit::fit_segments(std::move(points)))
    measured.segments.push_back(
        {piece.least, piece.most, piece.latency_s, piece.seconds_per_byte, piece.spread, piece.samples});
  return measured;
}

}  // namespace

CollectiveKey key_of(const Sample& sample) {
  const auto processes = static_cast<int>(
      number_of(sample, "launch.processes_per_node", usual_processes_per_node(sample.nodes)));
  return {sample.what,
          sample.gpus,
          sample.nodes,
          processes,
          std::string(setting_of(sample, "nccl.algorithm")),
          std::string(setting_of(sample, "nccl.protocol"))};
}

MeasuredCollectives measured_collectives(const std::vector<Sample>& samples,
                                         const SamplePredictions& modelled) {
  MeasuredCollectives out;
  for (auto& [key, curve] : curves_of(samples, modelled)) {
    if (curve.points.size() < kFewestSizes) continue;
    const Contest contest = curve.points.size() < kFewestToCut ? Contest{} : contest_of(curve);
    // The model wins only if it is better by more than the advantage of the pieces and the noise of runs.
    if (contest.model > 0 && kHandicap * contest.pieces > std::max(contest.model, kGoodEnough)) {
      out.refused.push_back(
          fmt::format("{} on {}: its sizes are too far apart to be kept as they were measured; between them "
                      "the model is {} % "
                      "off, straight pieces {} %",
                      std::get<0>(key), counted(std::get<1>(key), "GPU"),
                      percent(std::expm1(contest.model), 1), percent(std::expm1(contest.pieces), 1)));
      continue;
    }
    out.curves.push_back(calibrated_collective(key, std::move(curve.points)));
  }
  return out;
}

}  // namespace foretrain

// Properties of the pieces: protocols come back with their constants, noise makes no pieces, and the fast cut
// is the best of all cuts.
#include <cmath>

#include "calibrate/fit/segments.hpp"
#include "sim/base/random.hpp"
#include "tests/support/catch.hpp"

namespace fit_segments_test {

using namespace foretrain;
using foretrain::fit::MergedPoint;
using foretrain::fit::Segment;
using foretrain::fit::SizePoint;

namespace {

/// LL up to 64 KiB, LL128 up to 4 MiB, Simple beyond.
double protocol_time(double bytes) {
  if (bytes <= 65536) return 10e-6 + bytes / 4e9;
  if (bytes <= 4194304) return 20e-6 + bytes / 12e9;
  return 60e-6 + bytes / 20e9;
}

/// `repeats` of each size from 8 B to 1 GiB, four sizes an octave.
std::vector<SizePoint> sweep(int repeats, double noise, std::uint64_t seed, double outlier = 1) {
  const CounterRandom random(seed);
  std::vector<SizePoint> out;
  for (int i = 12; i <= 120; ++i) {
    const double bytes = std::round(std::pow(2.0, i / 4.0));
    for (int k = 0; k < repeats; ++k) {
      const double off = (i * repeats + k) % 10 == 3 ? outlier : 1;
      const double deviation = random.normal(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k));
      out.push_back({bytes, protocol_time(bytes) * off * std::exp(noise * deviation), 0});
    }
  }
  return out;
}

/// The least loss and price of any cut into pieces of at least two points, by trying all.
double least_loss(const std::vector<MergedPoint>& points, std::size_t begin, double noise) {
  if (begin == points.size()) return 0;
  double least = 1e300;
  for (std::size_t end = begin + 2; end <= points.size(); ++end) {
    const double rest = least_loss(points, end, noise);
    const double here =
        fit::fit_piece({points.data() + begin, end - begin}, noise).loss + fit::price_of_piece(points.size());
    least = std::min(least, here + rest);
  }
  return least;
}

double loss_of(const std::vector<Segment>& segments, const std::vector<MergedPoint>& points, double noise) {
  double sum = 0;
  for (const Segment& s : segments) {
    std::vector<MergedPoint> own;
    for (const MergedPoint& p : points) {
      if (p.bytes >= s.least && p.bytes <= s.most) own.push_back(p);
    }
    sum += fit::fit_piece(own, noise).loss + fit::price_of_piece(points.size());
  }
  return sum;
}

}  // namespace

TEST_CASE("three protocols come back within 3 % from samples with 5 % noise") {
  const std::vector<Segment> found = fit::fit_segments(sweep(20, 0.05, 1));
  REQUIRE(found.size() == 3);
  CHECK(found[0].most == Approx(65536).epsilon(0.2));
  CHECK(found[1].most == Approx(4194304).epsilon(0.2));
  CHECK(found[0].latency_s == Approx(10e-6).epsilon(0.03));
  CHECK(1 / found[0].seconds_per_byte == Approx(4e9).epsilon(0.03));
  CHECK(found[1].latency_s == Approx(20e-6).epsilon(0.03));
  CHECK(1 / found[1].seconds_per_byte == Approx(12e9).epsilon(0.03));
  CHECK(1 / found[2].seconds_per_byte == Approx(20e9).epsilon(0.03));
  int samples = 0;
  for (const Segment& s : found) samples += s.samples;
  CHECK(samples == 109 * 20);
}

TEST_CASE("without noise three protocols come back exactly") {
  const std::vector<Segment> found = fit::fit_segments(sweep(1, 0, 1));
  REQUIRE(found.size() == 3);
  CHECK(found[2].latency_s == Approx(60e-6));
  CHECK(1 / found[2].seconds_per_byte == Approx(20e9));
  CHECK(found[2].spread < 1e-6);
}

TEST_CASE("a tenth of the points three times too slow move no constant by 3 % and make no pieces") {
  const std::vector<Segment> clean = fit::fit_segments(sweep(1, 0.01, 2)),
                             hit = fit::fit_segments(sweep(1, 0.01, 2, 3));
  REQUIRE(clean.size() == 3);
  REQUIRE(hit.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    INFO(k);
    CHECK(hit[k].latency_s == Approx(clean[k].latency_s).epsilon(0.03));
    CHECK(hit[k].seconds_per_byte == Approx(clean[k].seconds_per_byte).epsilon(0.03));
  }
}

TEST_CASE("a straight line with 1 % noise is one piece, seldom two") {
  const CounterRandom random(5);
  int pieces = 0;
  for (std::uint64_t draw = 0; draw < 100; ++draw) {
    std::vector<SizePoint> points;
    for (std::uint64_t i = 3; i < 30; ++i) {
      const double bytes = std::ldexp(1.0, static_cast<int>(i));
      points.push_back({bytes, (8e-6 + bytes / 10e9) * std::exp(0.01 * random.normal(draw, i)), 0});
    }
    pieces += static_cast<int>(fit::fit_segments(points).size());
  }
  CHECK(pieces < 150);
}

TEST_CASE("the cut is as good as the best of all cuts") {
  const CounterRandom random(6);
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    std::vector<SizePoint> points;
    std::vector<MergedPoint> same;
    const std::uint64_t n = 2 + draw % 7;
    for (std::uint64_t i = 0; i < n; ++i) {
      const double bytes = std::ldexp(1000.0, static_cast<int>(i));
      const double jump = i > n / 2 ? 2 : 1;
      points.push_back({bytes, jump * (1e-5 + bytes / 1e9) * std::exp(0.1 * random.normal(draw, i)), 0});
      same.push_back({bytes, points.back().seconds, 1, 0});
    }
    const double noise = fit::noise_of(same);
    INFO(draw);
    CHECK(loss_of(fit::fit_segments(points), same, noise) == Approx(least_loss(same, 0, noise)));
  }
}

TEST_CASE("equal sizes are merged to their median, in any order") {
  const std::vector<Segment> found =
      fit::fit_segments({{2000, 3e-5, 0}, {1000, 2e-5, 0}, {1000, 9e-3, 0}, {1000, 1e-5, 0}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].least == 1000);
  CHECK(found[0].most == 2000);
  CHECK(found[0].samples == 4);
  CHECK(found[0].at(1000) == Approx(2e-5));
  CHECK(found[0].at(2000) == Approx(3e-5));
}

TEST_CASE("time that falls with size makes no negative slope, and no bandwidth a negative latency") {
  for (const Segment& s : fit::fit_segments({{1, 8, 0}, {2, 4, 0}, {4, 2, 0}, {8, 1, 0}}))
    CHECK(s.seconds_per_byte >= 0);
  for (const Segment& s : fit::fit_segments({{1, 1, 0}, {2, 4, 0}, {4, 16, 0}, {8, 64, 0}}))
    CHECK(s.latency_s >= 0);
}

TEST_CASE("no points are no pieces, and one point is its time") {
  CHECK(fit::fit_segments({}).empty());
  const std::vector<Segment> one = fit::fit_segments({{4096, 1e-5, 0}});
  REQUIRE(one.size() == 1);
  CHECK(one[0].at(4096) == Approx(1e-5));
  CHECK(fit::time_at(one, 1) == Approx(1e-5));
}

TEST_CASE("time between two pieces lies on the line that joins their ends") {
  const std::vector<Segment> two{{100, 200, 1, 0.01, 0, 2}, {400, 800, 10, 0.02, 0, 2}};
  CHECK(fit::time_at(two, 150) == Approx(2.5));
  CHECK(fit::time_at(two, 200) == Approx(3));
  CHECK(fit::time_at(two, 300) == Approx((3.0 + 18.0) / 2));
  CHECK(fit::time_at(two, 400) == Approx(18));
  CHECK(fit::time_at(two, 1) == Approx(2));      // below: the first piece at its smallest
  CHECK(fit::time_at(two, 1600) == Approx(42));  // above: the last piece's line
}

TEST_CASE("half of the sizes predict the others as well as straight lines between neighbours do") {
  std::vector<SizePoint> seen, held_out;
  const std::vector<SizePoint> all = sweep(1, 0.02, 9);
  for (std::size_t i = 0; i < all.size(); ++i) (i % 2 == 0 ? seen : held_out).push_back(all[i]);
  const std::vector<Segment> segments = fit::fit_segments(seen);
  double ours = 0, straight = 0;
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    const SizePoint &a = seen[i], &b = seen[i + 1], &p = held_out[i];
    const double share = (p.bytes - a.bytes) / (b.bytes - a.bytes);
    ours += std::abs(std::log(fit::time_at(segments, p.bytes) / p.seconds));
    straight += std::abs(std::log(((1 - share) * a.seconds + share * b.seconds) / p.seconds));
  }
  CHECK(ours < straight);
}

TEST_CASE("thousands of sizes are thinned, and every number stays a number") {
  std::vector<SizePoint> points;
  const CounterRandom random(8);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    points.push_back(
        {std::exp(200 * random.uniform(1, i)), std::exp(100 * random.normal(2, i)), i % 3 == 0 ? 0.1 : 0});
  }
  const std::vector<Segment> found = fit::fit_segments(points);
  CHECK(found.size() <= 64);
  double below = 0;
  int samples = 0;
  for (const Segment& s : found) {
    CHECK((s.least > below && s.most >= s.least && s.latency_s >= 0 && s.seconds_per_byte >= 0));
    CHECK((std::isfinite(s.latency_s) && std::isfinite(s.seconds_per_byte) && std::isfinite(s.spread)));
    below = s.most, samples += s.samples;
  }
  CHECK(samples == 3000);
}

}  // namespace fit_segments_test

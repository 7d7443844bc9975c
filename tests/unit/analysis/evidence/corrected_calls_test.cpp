// A collective's curve with evidence beside one without.
#include "sim/analysis/evidence/corrected_calls.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace corrected_calls_test {

using namespace foretrain;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

CollectiveCurve curve(bool single = false) {
  CollectiveQuestion q;
  q.cluster = test::star_cluster(8, {1.25e9});
  q.gpus = 8, q.single = single;
  q.sizes = {{0}, {8}, {kMiB}, {64 * kMiB}};
  return predict_collective(q);
}

/// The curve's own call of a size, measured by a source to be `slower` times as long.
Observation measured(const std::string& source, std::size_t size, double slower) {
  const CollectiveCurve raw = curve();
  const CollectivePoint& p = raw.points[size];
  Observation row =
      call_observation({raw.cluster, std::string(name_of(raw.op)), p.kind, std::string(p.algorithm),
                        std::string(p.protocol), p.size.count, raw.gpus(), raw.placement.nodes});
  row.source = source, row.run = source + " run", row.predicted = 1, row.measured = slower;
  return row;
}

CollectiveCurve with(const std::vector<Observation>& rows, bool single = false) {
  const ResidualField field(rows);
  CollectiveCurve out = curve(single);
  correct_calls(out, {&field, "own"});
  return out;
}

}  // namespace

TEST_CASE("a call of one's own corrects its size most, and says what was simulated") {
  const CollectiveCurve raw = curve(), near = with({measured("own", 3, 1.1)});
  REQUIRE(is_corrected(near));
  const CollectivePoint &before = raw.points[3], &after = near.points[3];
  CHECK(after.time > before.time);
  CHECK(to_seconds(after.time) < 1.1 * to_seconds(before.time));
  CHECK(after.reach.above < before.reach.above);
  CHECK(after.busbw.per_second * to_seconds(after.time) ==
        Approx(before.busbw.per_second * to_seconds(before.time)));
  CHECK(near.evidence[3].raw == before.time);
  CHECK(near.evidence[3].estimate.log_factor > near.evidence[2].estimate.log_factor);
  CHECK(near.points[0].time == Time::zero());
}

TEST_CASE("law: without a row of one's own a curve is as simulated to the last digit") {
  const CollectiveCurve raw = curve();
  std::vector<Observation> others;
  for (const char* source : {"a", "b", "c", "d", "e", "f"}) others.push_back(measured(source, 3, 1.1));
  for (const CollectiveCurve& one : {with({}), with(others)}) {
    CHECK_FALSE(is_corrected(one));
    for (std::size_t i = 0; i < raw.points.size(); ++i) {
      CHECK(one.points[i].time == raw.points[i].time);
      CHECK(one.points[i].reach.above == raw.points[i].reach.above);
      CHECK(one.points[i].reach.below == raw.points[i].reach.below);
    }
  }
}

TEST_CASE("single calls are not those that were measured, and stay as simulated") {
  CHECK_FALSE(is_corrected(with({measured("own", 3, 1.1)}, true)));
}

}  // namespace corrected_calls_test

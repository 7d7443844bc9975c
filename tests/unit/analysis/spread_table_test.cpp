// The fitted table of spreads: what is not known never narrows, slower is likelier than faster, and quantiles
// are what they are called.
#include "sim/analysis/spreads/spread_table.hpp"

#include <cmath>
#include <set>
#include <string>

#include "tests/support/catch.hpp"

namespace spread_table_test {

using namespace foretrain;

namespace {

constexpr std::array kKinds{SpreadOf::step, SpreadOf::ratio, SpreadOf::collective, SpreadOf::cut_step,
                            SpreadOf::memory};

/// Of a measured machine with a known version, its GPUs joined by this.
SpreadCase known_case(SpreadOf what, MessagePath path = MessagePath::nvlink) {
  SpreadCase out;
  out.what = what, out.path = path;
  out.kernels = {0.3, 0.25}, out.host = {0.02, 0.01}, out.links = {0.05, 0.03};
  out.doublings = 3, out.lost = 0.05, out.latency = 0.5;
  out.is_era_known = out.is_measured = true;
  if (path != MessagePath::nvlink && path != MessagePath::pcie) out.nodes = 2, out.node_doublings = 1;
  return out;
}

bool is_narrower(const Reach& a, const Reach& b) {
  constexpr double kRounding = 1e-12;
  return a.above < b.above - kRounding || a.below < b.below - kRounding;
}

}  // namespace

TEST_CASE("an unknown era never narrows, and neither does a machine that nobody measured") {
  for (const SpreadOf what : kKinds) {
    const SpreadCase known = known_case(what);
    SpreadCase other_era = known, unmeasured = known;
    other_era.is_era_known = false, unmeasured.is_measured = false;
    INFO(kSpreadOfNames[static_cast<std::size_t>(what)]);
    CHECK_FALSE(is_narrower(reach_of(other_era), reach_of(known)));
    CHECK_FALSE(is_narrower(reach_of(unmeasured), reach_of(known)));
  }
}

TEST_CASE("a transport that nobody measured is known no better than any that somebody did") {
  for (const SpreadOf what : {SpreadOf::ratio, SpreadOf::collective}) {
    const Reach unknown = reach_of(known_case(what, MessagePath::other_network));
    for (const MessagePath path : {MessagePath::infiniband, MessagePath::roce, MessagePath::efa,
                                   MessagePath::slingshot, MessagePath::sockets}) {
      INFO(kMessagePathNames[static_cast<std::size_t>(path)]);
      CHECK_FALSE(is_narrower(unknown, reach_of(known_case(what, path))));
    }
  }
}

TEST_CASE("more nodes, more exposed traffic and a larger share of the host never narrow") {
  for (const SpreadOf what : kKinds) {
    const SpreadCase few = known_case(what, MessagePath::infiniband);
    SpreadCase nodes = few, links = few, host = few, lost = few;
    nodes.node_doublings = 4, links.links = {0.4, 0.3}, host.host = {0.3, 0.2}, lost.lost = 0.4;
    for (const SpreadCase& more : {nodes, links, host, lost})
      CHECK_FALSE(is_narrower(reach_of(more), reach_of(few)));
  }
}

TEST_CASE("measured values lie further above the prediction than below it") {
  for (const SpreadOf what : kKinds) {
    const Reach reach = reach_of(known_case(what));
    INFO(kSpreadOfNames[static_cast<std::size_t>(what)]);
    CHECK(reach.above > reach.below);
    CHECK(reach.below > 0);
  }
}

TEST_CASE("the squares of what features add are the square of the reach") {
  const SpreadCase known = known_case(SpreadOf::ratio);
  Reach sum;
  for (const FeatureReach& part : reaches_of(known)) sum = joined(sum, part.reach);
  CHECK(sum.above == Approx(reach_of(known).above));
  CHECK(sum.below == Approx(reach_of(known).below));
}

TEST_CASE("every feature has a name of its own") {
  std::set<std::string_view> names;
  for (const SpreadFeature& feature : spread_features()) names.insert(feature.name);
  CHECK(names.size() == spread_features().size());
}

TEST_CASE("the prediction is the median, and the ends hold nine of ten") {
  const Reach reach{0.4, 0.1};
  CHECK(chance_below(1, reach) == Approx(0.5));
  CHECK(chance_below(std::exp(0.4), reach) == Approx(0.95));
  CHECK(chance_below(std::exp(-0.1), reach) == Approx(0.05));
  CHECK(chance_below(0.9, {}) == 0);
  CHECK(chance_below(1.1, {}) == 1);
}

TEST_CASE("the interval score is least at the quantiles, and charges twenty times for what lies outside") {
  CHECK(interval_score(0, {0.3, 0.1}) == Approx(0.4));
  CHECK(interval_score(0.35, {0.3, 0.1}) == Approx(0.4 + 20 * 0.05));
  CHECK(interval_score(-0.2, {0.3, 0.1}) == Approx(0.4 + 20 * 0.1));
  // Residuals at equal steps of probability of a distribution that reaches 0.3 above and 0.1 below.
  const auto mean_score = [](const Reach& reach) {
    double sum = 0;
    constexpr int kResiduals = 200;
    for (int i = 0; i < kResiduals; ++i) {
      const double uniform = 2 * (i + 0.5) / kResiduals - 1;
      sum += interval_score(uniform * (uniform > 0 ? 0.3 : 0.1) / 0.9, reach);
    }
    return sum / kResiduals;
  };
  const double best = mean_score({0.3, 0.1});
  for (const Reach& other : {Reach{0.2, 0.1}, Reach{0.4, 0.1}, Reach{0.3, 0.05}, Reach{0.3, 0.2}})
    CHECK(mean_score(other) > best);
}

}  // namespace spread_table_test

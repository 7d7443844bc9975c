// Laws of max-min rates over 2,000 random systems: feasible, fair, blind to names, equal to the plain twin.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/random.hpp"
#include "sim/engine/max_min.hpp"
#include "sim/engine/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/naive_max_min.hpp"

namespace max_min_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::uint64_t kSystems = 2000;
const CounterRandom kRandom(2026);

/// 1 to 12 links and 0 to 20 flows over 1 to 4 links each, now and then the same one twice. Every third
/// system has capacities of a few round values, so that ties are common; the others span four orders of
/// magnitude.
MaxMinProblem random_system(std::uint64_t seed) {
  std::uint64_t draw = 0;
  const auto below = [&](std::uint64_t limit) {
    return static_cast<std::uint32_t>(kRandom.bits(seed, draw++) % limit);
  };
  const auto capacity = [&] {
    return seed % 3 == 0 ? 10.0 * (1 + below(3)) : std::pow(10, 4 * kRandom.uniform(seed, draw++));
  };
  MaxMinProblem problem;
  const std::uint32_t links = 1 + below(12), flows = below(21);
  for (std::uint32_t link = 0; link < links; ++link) problem.capacities.push_back({capacity() * 1e9});
  for (std::uint32_t flow = 0; flow < flows; ++flow) {
    std::vector<std::uint32_t> route;
    for (std::uint32_t hops = 1 + below(4); hops > 0; --hops) route.push_back(below(links));
    problem.add_flow(route);
  }
  return problem;
}

std::vector<double> rates_of(const MaxMinProblem& problem) {
  std::vector<double> out;
  for (const ByteRate rate : max_min_rates(problem)) out.push_back(rate.per_second);
  return out;
}

std::vector<double> load_of_links(const MaxMinProblem& problem, const std::vector<double>& rates) {
  std::vector<double> load(problem.capacities.size(), 0);
  for (std::size_t f = 0; f < rates.size(); ++f) {
    for (std::uint32_t i = problem.first_link[f]; i < problem.first_link[f + 1]; ++i)
      load[problem.links[i]] += rates[f];
  }
  return load;
}

/// A link that is full and on which no flow is faster than this one.
bool is_bottleneck(const MaxMinProblem& problem, const std::vector<double>& rates, std::size_t flow,
                   std::uint32_t link, double load) {
  if (load < problem.capacities[link].per_second * (1 - 1e-9)) return false;
  for (std::size_t f = 0; f < rates.size(); ++f) {
    if (rates[f] > rates[flow] * (1 + 1e-9) && mentions(problem, f, link) > 0) return false;
  }
  return true;
}

bool has_bottleneck(const MaxMinProblem& problem, const std::vector<double>& rates,
                    const std::vector<double>& load, std::size_t flow) {
  for (std::uint32_t i = problem.first_link[flow]; i < problem.first_link[flow + 1]; ++i) {
    const std::uint32_t link = problem.links[i];
    if (is_bottleneck(problem, rates, flow, link, load[link])) return true;
  }
  return false;
}

std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[kRandom.bits(seed + 1'000'000, i) % i]);
  return order;
}

/// Link l is called link_names[l]; the flow at place p is flow flow_at[p] of before.
MaxMinProblem relabelled(const MaxMinProblem& problem, const std::vector<std::uint32_t>& link_names,
                         const std::vector<std::uint32_t>& flow_at) {
  MaxMinProblem out;
  out.capacities.resize(problem.capacities.size());
  for (std::size_t link = 0; link < link_names.size(); ++link)
    out.capacities[link_names[link]] = problem.capacities[link];
  for (const std::uint32_t f : flow_at) {
    std::vector<std::uint32_t> route;
    for (std::uint32_t i = problem.first_link[f]; i < problem.first_link[f + 1]; ++i)
      route.push_back(link_names[problem.links[i]]);
    out.add_flow(route);
  }
  return out;
}

/// The last end of the given flows, all started at zero, on fluid links.
Time completion(const std::vector<ByteRate>& capacities, const std::vector<std::vector<LinkId>>& routes,
                const std::vector<Bytes>& sizes) {
  const auto network = make_max_min_network(capacities);
  std::vector<std::vector<LinkShare>> shares(routes.size());
  for (FlowId flow = 0; flow < routes.size(); ++flow) {
    for (const LinkId link : routes[flow]) shares[flow].push_back({link, 1});
    network->start(flow, shares[flow], sizes[flow], Time::zero());
  }
  Time last{};
  std::vector<FlowId> ended;
  for (Time next = network->next_end(); next != Time::max(); next = network->next_end())
    network->advance(last = next, ended);
  REQUIRE(ended.size() == routes.size());
  return last;
}

}  // namespace

TEST_CASE("law: max-min rates fit into every link") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    const MaxMinProblem problem = random_system(seed);
    const std::vector<double> load = load_of_links(problem, rates_of(problem));
    for (std::size_t link = 0; link < load.size(); ++link)
      REQUIRE(load[link] <= problem.capacities[link].per_second * (1 + 1e-12));
  }
}

TEST_CASE("law: every flow has a bottleneck, a full link where nobody is faster") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    const MaxMinProblem problem = random_system(seed);
    const std::vector<double> rates = rates_of(problem), load = load_of_links(problem, rates);
    for (std::size_t flow = 0; flow < rates.size(); ++flow) {
      CAPTURE(seed, flow);
      REQUIRE(has_bottleneck(problem, rates, load, flow));
    }
  }
}

TEST_CASE("law: max-min rates are those of the plain twin") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    const MaxMinProblem problem = random_system(seed);
    const std::vector<double> rates = rates_of(problem), twin = naive_max_min(problem);
    for (std::size_t flow = 0; flow < rates.size(); ++flow) {
      CAPTURE(seed, flow);
      REQUIRE(rates[flow] == Approx(twin[flow]).epsilon(1e-9));
    }
  }
}

TEST_CASE("law: other names for links and flows change no rate") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    const MaxMinProblem problem = random_system(seed);
    const auto link_names = shuffled(problem.capacities.size(), 2 * seed),
               flow_at = shuffled(problem.flow_count(), 2 * seed + 1);
    const std::vector<double> before = rates_of(problem),
                              after = rates_of(relabelled(problem, link_names, flow_at));
    for (std::size_t place = 0; place < after.size(); ++place)
      REQUIRE(after[place] == Approx(before[flow_at[place]]).epsilon(1e-12));
  }
}

TEST_CASE("law: the same system solved twice gives the same bits, also by a solver used before") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    const MaxMinProblem problem = random_system(seed);
    MaxMinSolver used(problem.capacities);
    for (int round = 0; round < 2; ++round) {
      used.clear();
      for (std::size_t f = 0; f < problem.flow_count(); ++f) {
        used.add_flow(std::span(problem.links)
                          .subspan(problem.first_link[f], problem.first_link[f + 1] - problem.first_link[f]));
      }
      REQUIRE(used.solve() == rates_of(problem));
    }
  }
}

TEST_CASE("law: all capacities times two are all rates times two, to the bit") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    MaxMinProblem problem = random_system(seed);
    std::vector<double> doubled = rates_of(problem);
    for (double& rate : doubled) rate *= 2;
    for (ByteRate& capacity : problem.capacities) capacity.per_second *= 2;
    REQUIRE(rates_of(problem) == doubled);
  }
}

// Max-min sharing is not monotone in general: a wider link lets a flow run faster that then takes more of the
// next link from others. What holds always is that the smallest rate of all never falls, since it is the best
// smallest rate there is.
TEST_CASE("law: more bandwidth anywhere never lowers the smallest rate") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    MaxMinProblem problem = random_system(seed);
    if (problem.flow_count() == 0) continue;
    const std::vector<double> before = rates_of(problem);
    for (std::size_t link = 0; link < problem.capacities.size(); ++link)
      problem.capacities[link].per_second *= 1 + kRandom.uniform(seed + 5'000'000, link);
    const std::vector<double> after = rates_of(problem);
    REQUIRE(std::ranges::min(after) >= std::ranges::min(before) * (1 - 1e-12));
  }
}

TEST_CASE("a wider link can slow a flow that does not cross it") {
  // Flow 0 crosses links 0 and 1, flow 1 only link 1 (100). Link 0 at 20: flow 1 has 80. Link 0 at 50: flow 1
  // has 50.
  for (const auto& [width, rate] : {std::pair(20.0, 80.0), std::pair(50.0, 50.0)}) {
    MaxMinProblem problem;
    problem.capacities = {{width}, {100}};
    problem.add_flow(std::vector<std::uint32_t>{0, 1});
    problem.add_flow(std::vector<std::uint32_t>{1});
    CHECK(rates_of(problem)[1] == rate);
  }
}

TEST_CASE("law: where all flows meet in one link only, more bandwidth never makes any of them end later") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    const auto flows = 1 + static_cast<FlowId>(kRandom.bits(seed, 0) % 8);
    const std::vector<std::vector<LinkId>> routes(flows, {0});
    std::vector<Bytes> sizes;
    for (FlowId flow = 0; flow < flows; ++flow)
      sizes.push_back({static_cast<std::int64_t>(1 + kRandom.bits(seed, 2 + flow) % 100'000'000)});
    const double capacity = 1e9 * (1 + 50 * kRandom.uniform(seed, 1)),
                 wider = capacity * (1 + kRandom.uniform(seed, 20));
    // Each end is rounded up to a picosecond once per end before it.
    REQUIRE(completion({{wider}}, routes, sizes) <= completion({{capacity}}, routes, sizes) + Time{flows});
  }
}

TEST_CASE(
    "law: a flow alone on a chain of links is never slower with more bandwidth, and is as fast as its "
    "narrowest link") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    std::vector<ByteRate> chain, wider;
    std::vector<LinkId> route;
    for (LinkId link = 0; link < 1 + seed % 6; ++link) {
      route.push_back(link);
      chain.push_back({1e9 * (1 + 99 * kRandom.uniform(seed, link))});
      wider.push_back({chain.back().per_second * (1 + kRandom.uniform(seed, 10 + link))});
    }
    const Bytes size{static_cast<std::int64_t>(1 + kRandom.bits(seed, 30) % 1'000'000'000)};
    const Time end = completion(chain, {route}, {size});
    REQUIRE(completion(wider, {route}, {size}) <= end);
    const Time closed_form = size / *std::ranges::min_element(chain);
    REQUIRE(std::abs((end - closed_form).count()) <= 1);
  }
}

}  // namespace max_min_laws

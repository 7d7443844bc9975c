// Laws of more bandwidth, with links from 1 kbit/s to 10^18 bit/s on one machine: what becomes faster makes
// nothing slower.
#include <algorithm>
#include <cmath>

#include "sim/base/random.hpp"
#include "sim/collective/fidelity.hpp"
#include "sim/engine/chunk_simulator.hpp"
#include "sim/engine/max_min.hpp"
#include "sim/engine/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/support/random_links.hpp"

namespace bandwidth_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::uint64_t kCases = 1000;

std::vector<double> sorted_rates(const MaxMinProblem& problem) {
  std::vector<double> rates;
  for (const ByteRate rate : max_min_rates(problem)) rates.push_back(rate.per_second);
  std::ranges::sort(rates);
  return rates;
}

MaxMinProblem random_flows(Draws& draws) {
  MaxMinProblem problem;
  const std::uint32_t links = 1 + draws.below(12);
  for (std::uint32_t link = 0; link < links; ++link) problem.capacities.push_back(draws.rate());
  for (std::uint32_t flows = 1 + draws.below(20); flows > 0; --flows) {
    std::vector<std::uint32_t> route;
    for (std::uint32_t hops = 1 + draws.below(4); hops > 0; --hops) route.push_back(draws.below(links));
    problem.add_flow(route);
  }
  return problem;
}

/// The first rate that differs is the larger one.
bool is_no_worse(const std::vector<double>& after, const std::vector<double>& before) {
  constexpr double kSame = 1e-9;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (after[i] > before[i] * (1 + kSame)) return true;
    if (after[i] < before[i] * (1 - kSame)) return false;
  }
  return true;
}

/// Flows over links, each with its moment.
struct Flows {
  std::vector<ByteRate> capacities;
  std::vector<std::vector<LinkShare>> routes;
  std::vector<Bytes> sizes;
  std::vector<Time> starts;  ///< ascending
};

Time last_end(const Flows& flows) {
  const auto network = make_max_min_network(flows.capacities);
  std::vector<FlowId> ended;
  Time now{};
  FlowId next = 0;
  while (ended.size() < flows.sizes.size()) {
    const Time end = network->next_end(),
               start = next < flows.starts.size() ? flows.starts[next] : Time::max();
    now = std::min(end, start);
    REQUIRE(now < Time::max());
    if (end == now) network->advance(now, ended);
    if (start != now) continue;
    network->start(next, flows.routes[next], flows.sizes[next], now);
    ++next;
  }
  return now;
}

/// What a link of this rate carries in at most 100 s, so that a picosecond is more than the rounding of a
/// double.
Bytes size_for(Draws& draws, ByteRate rate) {
  const double bytes = rate.per_second * draws.magnitude(1e-6, 100);
  return {static_cast<std::int64_t>(std::clamp(bytes, 1.0, 1e18))};
}

ByteRate narrowest(const std::vector<ByteRate>& links) { return *std::ranges::min_element(links); }

/// Flows that come one after the other and cross all the links.
Flows flows_on_one_chain(Draws& draws) {
  Flows flows;
  for (std::uint32_t links = 1 + draws.below(4); links > 0; --links) flows.capacities.push_back(draws.rate());
  std::vector<LinkShare> route;
  for (LinkId link = 0; link < flows.capacities.size(); ++link) route.push_back({link, 1});
  Time at{};
  for (std::uint32_t left = 1 + draws.below(12); left > 0; --left) {
    flows.routes.push_back(route);
    flows.sizes.push_back(size_for(draws, narrowest(flows.capacities)));
    flows.starts.push_back(at);
    if (draws.below(3) > 0) at += seconds(draws.magnitude(1e-9, 10));
  }
  return flows;
}

/// A ring in which every hop has a link of its own, with latencies and overheads; each message needs the one
/// before it.
TransferGraph ring_of_own_links(Draws& draws, const std::vector<ByteRate>& capacities) {
  TransferGraph graph;
  const auto ranks = static_cast<std::uint32_t>(capacities.size());
  graph.ranks = static_cast<int>(ranks);
  const double bytes = std::max(1.0, narrowest(capacities).per_second * draws.magnitude(1e-6, 1));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Connection connection;
    connection.from = rank, connection.to = (rank + 1) % ranks;
    connection.transfers = 2 * (ranks - 1), connection.bytes = bytes;
    connection.latency = seconds(draws.magnitude(1e-9, 1e-3)),
    connection.overhead = Time{draws.below(1'000'000)};
    const Need need{(rank + ranks - 1) % ranks, 1};
    graph.add(connection, std::vector<LinkId>{rank}, std::vector<Need>{need});
  }
  return graph;
}

struct Question {
  CollectiveOp op;
  nccl::Algorithm algorithm;
  Protocol protocol;
  std::int64_t bytes;
};

Question random_question(Draws& draws) {
  constexpr std::array kOps{CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                            CollectiveOp::broadcast, CollectiveOp::reduce};
  const bool tree = draws.below(3) == 0;
  return {tree ? CollectiveOp::all_reduce : kOps[draws.below(kOps.size())],
          tree ? nccl::Algorithm::tree : nccl::Algorithm::ring, static_cast<Protocol>(draws.below(3)),
          static_cast<std::int64_t>(draws.magnitude(1, 1 << 24))};
}

struct Answer {
  CollectivePlan plan;
  double analytic = 0, flow = 0;
  double rounding = 0;  ///< of the flows to whole bytes, on the slowest link
};

Answer answer(const ClusterSpec& spec, const Question& question) {
  const OneJob job(spec, spec.nodes * spec.node.gpus, forced(question.algorithm, question.protocol));
  Answer answer{job.plan(question.op, question.bytes)};
  answer.analytic = to_seconds(answer.plan.alone);
  answer.flow = to_seconds(simulate(job.communicator, answer.plan, Fidelity::flow));
  answer.rounding = static_cast<double>(job.communicator.flows(answer.plan).size()) /
                    narrowest(job.cluster.capacities()).per_second;
  return answer;
}

}  // namespace

TEST_CASE("law: one wider link makes the sorted max-min rates no worse, from 1 kbit/s to 10^18 bit/s") {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Draws draws(seed);
    MaxMinProblem problem = random_flows(draws);
    const std::vector<double> before = sorted_rates(problem);
    ByteRate& link = problem.capacities[draws.below(problem.capacities.size())];
    link = draws.faster(link);
    CAPTURE(seed);
    REQUIRE(is_no_worse(sorted_rates(problem), before));
  }
}

// Elsewhere it is no law of max-min sharing: a flow that gets faster may take from one that its own link
// holds back afterwards.
TEST_CASE(
    "law: on one chain of links no wider link makes the last flow end later, but for a picosecond per flow") {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Draws draws(seed);
    Flows flows = flows_on_one_chain(draws);
    const Time before = last_end(flows);
    ByteRate& link = flows.capacities[draws.below(flows.capacities.size())];
    link = draws.faster(link);
    CAPTURE(seed);
    REQUIRE(last_end(flows) <= before + Time{flows.sizes.size()});
  }
}

TEST_CASE(
    "law: all links wider by one factor make all flows that start together end earlier by that factor") {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Draws draws(seed);
    const MaxMinProblem problem = random_flows(draws);
    Flows flows;
    flows.capacities = problem.capacities;
    for (std::size_t f = 0; f < problem.flow_count(); ++f) {
      std::vector<LinkShare>& route = flows.routes.emplace_back();
      for (std::uint32_t i = problem.first_link[f]; i < problem.first_link[f + 1]; ++i)
        route.push_back({problem.links[i], 1});
    }
    flows.sizes.assign(flows.routes.size(), size_for(draws, narrowest(problem.capacities)));
    flows.starts.assign(flows.routes.size(), Time::zero());
    const double before = to_seconds(last_end(flows)), factor = draws.magnitude(1, 1e6);
    for (ByteRate& rate : flows.capacities) rate.per_second *= factor;
    CAPTURE(seed);
    // Each end is rounded up to a picosecond.
    REQUIRE(to_seconds(last_end(flows)) ==
            Approx(before / factor).epsilon(1e-9).margin(1e-12 * static_cast<double>(flows.sizes.size())));
  }
}

TEST_CASE("law: around a ring of links that nobody shares a wider one makes no chunk later") {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Draws draws(seed);
    std::vector<ByteRate> capacities(2 + draws.below(6));
    for (ByteRate& rate : capacities) rate = draws.rate();
    const TransferGraph graph = ring_of_own_links(draws, capacities);
    std::vector<ByteRate> wider = capacities;
    ByteRate& link = wider[draws.below(wider.size())];
    link = draws.faster(link);
    for (const LinkSharing sharing : {LinkSharing::serve_in_order, LinkSharing::fair_share}) {
      CAPTURE(seed);
      REQUIRE(simulate_chunks(graph, wider, {.sharing = sharing}).end <=
              simulate_chunks(graph, capacities, {.sharing = sharing}).end);
    }
  }
}

// NCCL's own choice is held fixed: it plans with bandwidths from its tables, and takes an algorithm that is
// slower on links so uneven.
/// A wider way may bring a relay over NVLink, whose line costs its latency.
constexpr double kRelayed = 0.005;

TEST_CASE("law: one wider link in a cluster makes no collective slower, as a plan and as flows") {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Draws draws(seed);
    ClusterSpec spec = random_cluster(draws);
    const Question question = random_question(draws);
    const Answer before = answer(spec, question);
    const std::vector<LinkType*> links = links_of(spec);
    LinkType& link = *links[draws.below(links.size())];
    link.bandwidth = draws.faster(link.bandwidth);
    const Answer after = answer(spec, question);
    CAPTURE(seed, spec.name, spec.fabric.kind, name_of(question.op), before.plan.algorithm_name(),
            name_of(before.plan.protocol), question.bytes, link.name);
    REQUIRE(after.plan.algorithm == before.plan.algorithm);
    REQUIRE(after.plan.protocol == before.plan.protocol);
    REQUIRE(after.plan.channels == before.plan.channels);
    CHECK(after.analytic <= before.analytic * (1 + kRelayed) + 4e-12);
    CHECK(after.flow <= before.flow * (1 + kRelayed) + before.rounding + 100e-12);
  }
}

}  // namespace bandwidth_laws

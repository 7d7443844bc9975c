// 210 random flow sets on random stars, fat trees and DGX-like machines: rates and ends as SimGrid's within
// 1e-6.
#include <algorithm>
#include <functional>

#include "sim/base/random.hpp"
#include "sim/engine/max_min.hpp"
#include "tests/crosscheck/flow_level.hpp"
#include "tests/crosscheck/simgrid.hpp"
#include "tests/support/catch.hpp"

namespace random_platforms {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::uint64_t kSets = 70;  // on each of three kinds of machine
const CounterRandom kRandom(1209);

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t below(std::uint64_t limit) {
    return static_cast<std::uint32_t>(kRandom.bits(seed_, index_++) % limit);
  }
  /// 1 to 25 GB/s: round every other time, so that several links fill at once.
  double capacity() {
    return below(2) == 0 ? 6.25e9 * (1 + below(4)) : 1e9 * (1 + 24 * kRandom.uniform(seed_, index_++));
  }

 private:
  std::uint64_t seed_, index_ = 0;
};

/// Links of a machine, numbered as they are asked for.
struct Machine {
  std::vector<double> capacities;
  std::uint32_t hosts = 0;
  std::function<std::vector<LinkId>(std::uint32_t from, std::uint32_t to)> route;
  LinkId add(std::uint32_t count, const std::function<double()>& capacity) {
    const auto first = static_cast<LinkId>(capacities.size());
    for (; count > 0; --count) capacities.push_back(capacity());
    return first;
  }
};

Machine random_star(Draw& draw) {
  Machine machine;
  machine.hosts = 2 + draw.below(15);
  const LinkId up = machine.add(machine.hosts, [&] { return draw.capacity(); });
  const LinkId down = machine.add(machine.hosts, [&] { return draw.capacity(); });
  machine.route = [up, down](std::uint32_t from, std::uint32_t to) {
    return std::vector<LinkId>{up + from, down + to};
  };
  return machine;
}

/// Leaves of four hosts under one to four spines; a flow takes the spine that its two ends say.
Machine random_fat_tree(Draw& draw) {
  Machine machine;
  const std::uint32_t leaves = 2 + draw.below(7), spines = 1 + draw.below(4);
  const double nic = draw.capacity(), trunk = draw.capacity();
  machine.hosts = 4 * leaves;
  const LinkId up = machine.add(machine.hosts, [=] { return nic; }),
               down = machine.add(machine.hosts, [=] { return nic; });
  const LinkId to_spine = machine.add(leaves * spines, [=] { return trunk; }),
               to_leaf = machine.add(leaves * spines, [=] { return trunk; });
  machine.route = [=](std::uint32_t from, std::uint32_t to) -> std::vector<LinkId> {
    const std::uint32_t spine = (from + to) % spines;
    if (from / 4 == to / 4) return {up + from, down + to};
    return {up + from, to_spine + from / 4 * spines + spine, to_leaf + to / 4 * spines + spine, down + to};
  };
  return machine;
}

/// Nodes of eight GPUs with NVSwitch inside; to other nodes over PCIe, two GPUs to a PCIe switch with a NIC,
/// and one switch for all NICs. Every third GPU has no NIC near it and goes through the CPU, whose links all
/// share.
Machine random_dgx(Draw& draw) {
  Machine machine;
  const std::uint32_t nodes = 1 + draw.below(4);
  const double nvlink = 10 * draw.capacity(), pcie = draw.capacity(), nic = draw.capacity(),
               socket = 2 * draw.capacity();
  machine.hosts = 8 * nodes;
  const LinkId nvlink_out = machine.add(machine.hosts, [=] { return nvlink; }),
               nvlink_in = machine.add(machine.hosts, [=] { return nvlink; });
  const LinkId pcie_out = machine.add(machine.hosts, [=] { return pcie; }),
               pcie_in = machine.add(machine.hosts, [=] { return pcie; });
  const LinkId nic_out = machine.add(4 * nodes, [=] { return nic; }),
               nic_in = machine.add(4 * nodes, [=] { return nic; });
  const LinkId cpu_out = machine.add(nodes, [=] { return socket; }),
               cpu_in = machine.add(nodes, [=] { return socket; });
  machine.route = [=](std::uint32_t from, std::uint32_t to) -> std::vector<LinkId> {
    if (from / 8 == to / 8) return {nvlink_out + from, nvlink_in + to};
    std::vector<LinkId> links{pcie_out + from};
    if (from % 3 == 0) links.push_back(cpu_out + from / 8);
    links.push_back(nic_out + from / 2);
    links.push_back(nic_in + to / 2);
    if (to % 3 == 0) links.push_back(cpu_in + to / 8);
    links.push_back(pcie_in + to);
    return links;
  };
  return machine;
}

/// 1 to 30 flows between random hosts, of 10 to 500 MB, all at 0 or one after the other.
Scene random_flows(const Machine& machine, Draw& draw, bool staggered) {
  Scene scene{machine.capacities, {}};
  for (std::uint32_t n = 1 + draw.below(30); n > 0; --n) {
    const std::uint32_t from = draw.below(machine.hosts),
                        to = (from + 1 + draw.below(machine.hosts - 1)) % machine.hosts;
    scene.transfers.push_back({machine.route(from, to), 10'000'000 + draw.below(490'000'000),
                               staggered ? 0.001 * draw.below(60) : 0});
  }
  return scene;
}

std::vector<double> our_rates(const Scene& scene) {
  MaxMinProblem problem;
  for (const double capacity : scene.capacities) problem.capacities.push_back({capacity});
  for (const Transfer& transfer : scene.transfers) problem.add_flow(transfer.route);
  std::vector<double> rates;
  for (const ByteRate rate : max_min_rates(problem)) rates.push_back(rate.per_second);
  return rates;
}

void require_equal(const std::vector<double>& ours, const std::vector<double>& theirs, double tolerance) {
  REQUIRE(theirs.size() == ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    INFO("flow " << i);
    REQUIRE(ours[i] == Approx(theirs[i]).epsilon(tolerance));
  }
}

void check_random_sets(Machine (*make)(Draw&), std::uint64_t first_seed) {
  for (std::uint64_t seed = first_seed; seed < first_seed + kSets; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    const Machine machine = make(draw);
    const Scene at_once = random_flows(machine, draw, false), staggered = random_flows(machine, draw, true);
    require_equal(our_rates(at_once), simgrid_rates(at_once), 1e-6);
    require_equal(our_ends(staggered), simgrid_ends(staggered), 1e-6);
  }
}

}  // namespace

TEST_CASE("SimGrid agrees: 70 random flow sets on random stars") { check_random_sets(random_star, 0); }
TEST_CASE("SimGrid agrees: 70 random flow sets on random fat trees") {
  check_random_sets(random_fat_tree, 1000);
}
TEST_CASE("SimGrid agrees: 70 random flow sets on random DGX-like machines") {
  check_random_sets(random_dgx, 2000);
}

}  // namespace random_platforms

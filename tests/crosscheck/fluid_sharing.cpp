// The same flows over the same links in SimGrid, with its network model reduced to fluid max-min sharing:
// ends agree within 1e-6.
#include <cstdint>
#include <vector>

#include "sim/base/random.hpp"
#include "tests/crosscheck/flow_level.hpp"
#include "tests/support/catch.hpp"

namespace fluid_sharing {

using namespace foretrain;
using namespace foretrain::test;

namespace {

void check_against_simgrid(const Scene& scene) {
  const std::vector<double> ours = our_ends(scene), theirs = simgrid_ends(scene);
  REQUIRE(theirs.size() == ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    INFO("transfer " << i);
    CHECK(ours[i] == Approx(theirs[i]).epsilon(1e-6));
  }
}

constexpr double kPcie = 12.3e9;
constexpr double kNic = 12.5e9;

}  // namespace

TEST_CASE("SimGrid agrees: four flows of different sizes over one link") {
  check_against_simgrid(
      {{10e9}, {{{0}, 100'000'000}, {{0}, 200'000'000}, {{0}, 300'000'000}, {{0}, 400'000'000}}});
}

TEST_CASE("SimGrid agrees: a long flow over two links and short flows on each") {
  check_against_simgrid(
      {{10e9, 4e9}, {{{0, 1}, 500'000'000}, {{0}, 900'000'000}, {{0}, 100'000'000}, {{1}, 250'000'000}}});
}

TEST_CASE("SimGrid agrees: two rings of two four-GPU nodes share one NIC per node") {
  // Links 0-7 leave the GPUs, 8-15 enter them; 16, 17 leave the NICs and 18, 19 enter them. The second ring
  // runs backward.
  Scene scene{std::vector<double>(16, kPcie), {}};
  scene.capacities.insert(scene.capacities.end(), 4, kNic);
  for (const LinkId step : {1u, 7u}) {
    for (LinkId gpu = 0; gpu < 8; ++gpu) {
      const LinkId next = (gpu + step) % 8;
      std::vector<LinkId> route{gpu, 8 + next};
      if (gpu / 4 != next / 4) route = {gpu, 16 + gpu / 4, 18 + next / 4, 8 + next};
      scene.transfers.push_back({route, 50'000'000});
    }
  }
  check_against_simgrid(scene);
}

TEST_CASE("SimGrid agrees: two leaves of four hosts under a spine of half the bandwidth") {
  // Links 0-7 leave the hosts, 8-15 enter them, 16 and 17 go up from the leaves, 18 and 19 come down to them.
  Scene scene{std::vector<double>(16, kNic), {}};
  scene.capacities.insert(scene.capacities.end(), 4, 2 * kNic);
  for (LinkId host = 0; host < 8; ++host) {
    const LinkId across = (host + 4) % 8, beside = host / 4 * 4 + (host + 1) % 4;
    scene.transfers.push_back({{host, 16 + host / 4, 18 + across / 4, 8 + across},
                               100'000'000 + 10'000'000 * static_cast<std::int64_t>(host)});
    scene.transfers.push_back({{host, 8 + beside}, 300'000'000});
  }
  check_against_simgrid(scene);
}

TEST_CASE("SimGrid agrees: flows that start one after the other over one link") {
  Scene scene{{10e9}, {}};
  for (int i = 0; i < 6; ++i) scene.transfers.push_back({{0}, 100'000'000, 0.005 * i});
  check_against_simgrid(scene);
}

TEST_CASE("SimGrid agrees: a copy to the GPU starts in the middle of a ring over the same PCIe link") {
  // Links 0-3 leave the GPUs, 4-7 enter them; the copy comes over the memory link 8.
  Scene scene{std::vector<double>(8, kPcie), {}};
  scene.capacities.push_back(20e9);
  for (LinkId gpu = 0; gpu < 4; ++gpu) scene.transfers.push_back({{gpu, 4 + (gpu + 1) % 4}, 200'000'000});
  scene.transfers.push_back({{8, 5}, 77'000'000, 0.004});
  check_against_simgrid(scene);
}

TEST_CASE("SimGrid agrees: forty flows over random links with random starts") {
  const CounterRandom random(8);
  Scene scene;
  for (std::uint64_t link = 0; link < 12; ++link)
    scene.capacities.push_back(1e9 + 20e9 * random.uniform(0, link));
  for (std::uint64_t flow = 0; flow < 40; ++flow) {
    Transfer transfer;
    for (LinkId link = 0; link < 12; ++link) {
      if (random.uniform(1 + flow, link) < 0.25) transfer.route.push_back(link);
    }
    if (transfer.route.empty()) transfer.route.push_back(static_cast<LinkId>(flow % 12));
    transfer.bytes = 1'000'000 + static_cast<std::int64_t>(random.bits(100, flow) % 200'000'000);
    transfer.start = 0.1 * random.uniform(101, flow);
    scene.transfers.push_back(transfer);
  }
  check_against_simgrid(scene);
}

}  // namespace fluid_sharing

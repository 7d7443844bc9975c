// The same flows over the same links in SimGrid, with its network model reduced to fluid max-min sharing: ends agree within 1 %.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <simgrid/s4u.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/random.hpp"
#include "sim/engine/executor.hpp"
#include "tests/support/catch.hpp"

namespace sg = simgrid::s4u;
using namespace foretrain;

namespace {

struct Transfer {
  std::vector<LinkId> route;
  std::int64_t bytes = 0;
  double start = 0;  ///< seconds
};

struct Scene {
  std::vector<double> capacities;  ///< bytes per second
  std::vector<Transfer> transfers;
};

/// Each transfer is a collective on a queue of its own, whose latency is the moment it starts.
std::vector<double> our_ends(const Scene& scene) {
  TaskGraph graph;
  for (const Transfer& transfer : scene.transfers) {
    Task task;
    task.kind = TaskKind::collective;
    task.queue = graph.add_queue("transfer");
    task.duration = seconds(transfer.start);
    task.pattern = graph.add_pattern({{transfer.route, 1}});
    task.traffic = {transfer.bytes};
    graph.add(task);
  }
  std::vector<ByteRate> capacities;
  for (const double capacity : scene.capacities) capacities.push_back({capacity});
  const auto network = make_max_min_network(std::move(capacities));
  std::vector<double> ends;
  for (const Span& span : run(graph, *network).spans) ends.push_back(to_seconds(span.end));
  return ends;
}

/// Each transfer goes between two hosts of its own; its route is exactly the links named.
std::vector<double> run_simgrid(const Scene& scene) {
  std::vector<std::string> words{"crosscheck",
                                 "--log=root.thresh:error",
                                 "--cfg=network/model:CM02",
                                 "--cfg=network/bandwidth-factor:1.0",
                                 "--cfg=network/latency-factor:1.0",
                                 "--cfg=network/weight-S:0",
                                 "--cfg=network/TCP-gamma:0",
                                 "--cfg=network/crosstraffic:0"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  sg::Engine engine(&count, arguments.data());
  auto* zone = sg::create_full_zone("world");
  std::vector<sg::Link*> links;
  for (std::size_t i = 0; i < scene.capacities.size(); ++i) {
    links.push_back(zone->create_link("link" + std::to_string(i), scene.capacities[i])->set_latency(0)->seal());
  }
  std::vector<double> ends(scene.transfers.size(), -1);
  std::vector<std::pair<sg::Host*, sg::Host*>> hosts;
  for (std::size_t i = 0; i < scene.transfers.size(); ++i) {
    auto* from = zone->create_host("from" + std::to_string(i), 1e9)->seal();
    auto* to = zone->create_host("to" + std::to_string(i), 1e9)->seal();
    std::vector<sg::LinkInRoute> route;
    for (const LinkId link : scene.transfers[i].route) route.emplace_back(links[link]);
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
    hosts.emplace_back(from, to);
  }
  zone->seal();
  for (std::size_t i = 0; i < scene.transfers.size(); ++i) {
    sg::Actor::create("sender" + std::to_string(i), hosts[i].first, [&, i] {
      sg::this_actor::sleep_until(scene.transfers[i].start);
      sg::Comm::sendto(hosts[i].first, hosts[i].second, static_cast<std::uint64_t>(scene.transfers[i].bytes));
      ends[i] = sg::Engine::get_clock();
    });
  }
  engine.run();
  return ends;
}

/// SimGrid allows one engine per process, so each scene gets a child of its own. Empty when the child fails.
std::vector<double> simgrid_ends(const Scene& scene) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<double> ends = run_simgrid(scene);
    const std::size_t size = ends.size() * sizeof(double);
    _exit(write(pipe_ends[1], ends.data(), size) == static_cast<ssize_t>(size) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::vector<double> ends;
  for (double end = 0; child > 0 && read(pipe_ends[0], &end, sizeof end) == sizeof end;) ends.push_back(end);
  close(pipe_ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return ends;
}

void check_against_simgrid(const Scene& scene) {
  const std::vector<double> ours = our_ends(scene), theirs = simgrid_ends(scene);
  REQUIRE(theirs.size() == ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    INFO("transfer " << i);
    CHECK(ours[i] == Approx(theirs[i]).epsilon(0.01));
  }
}

constexpr double kPcie = 12.3e9;
constexpr double kNic = 12.5e9;

}  // namespace

TEST_CASE("SimGrid agrees: four flows of different sizes over one link") {
  check_against_simgrid({{10e9}, {{{0}, 100'000'000}, {{0}, 200'000'000}, {{0}, 300'000'000}, {{0}, 400'000'000}}});
}

TEST_CASE("SimGrid agrees: a long flow over two links and short flows on each") {
  check_against_simgrid({{10e9, 4e9}, {{{0, 1}, 500'000'000}, {{0}, 900'000'000}, {{0}, 100'000'000}, {{1}, 250'000'000}}});
}

TEST_CASE("SimGrid agrees: two rings of two four-GPU nodes share one NIC per node") {
  // Links 0-7 leave the GPUs, 8-15 enter them; 16, 17 leave the NICs and 18, 19 enter them. The second ring runs backward.
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
    scene.transfers.push_back(
        {{host, 16 + host / 4, 18 + across / 4, 8 + across}, 100'000'000 + 10'000'000 * static_cast<std::int64_t>(host)});
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
  for (std::uint64_t link = 0; link < 12; ++link) scene.capacities.push_back(1e9 + 20e9 * random.uniform(0, link));
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

// SimGrid allows one engine per process, so each scene gets a child of its own, which sends back numbers
// through a pipe.
#include "tests/crosscheck/simgrid.hpp"

#include <functional>
#include <string>

#include <simgrid/s4u.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace foretrain::test {

namespace sg = simgrid::s4u;

namespace {

std::vector<double> in_child(const std::function<std::vector<double>()>& work) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<double> numbers = work();
    const std::size_t size = numbers.size() * sizeof(double);
    _exit(write(pipe_ends[1], numbers.data(), size) == static_cast<ssize_t>(size) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::vector<double> numbers;
  for (double number = 0; child > 0 && read(pipe_ends[0], &number, sizeof number) == sizeof number;)
    numbers.push_back(number);
  close(pipe_ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return numbers;
}

/// An engine with the model reduced; it is never taken down, since the child just ends.
sg::Engine& make_engine() {
  static std::vector<std::string> words{"crosscheck",
                                        "--log=root.thresh:error",
                                        "--cfg=network/model:CM02",
                                        "--cfg=network/bandwidth-factor:1.0",
                                        "--cfg=network/latency-factor:1.0",
                                        "--cfg=network/weight-S:0",
                                        "--cfg=network/TCP-gamma:0",
                                        "--cfg=network/crosstraffic:0",
                                        "--cfg=surf/precision:1e-12",
                                        "--cfg=maxmin/precision:1e-12"};
  static std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  static int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return *new sg::Engine(&count, arguments.data());
}

using Pairs = std::vector<std::pair<sg::Host*, sg::Host*>>;

/// Each transfer goes between two hosts of its own; its route is exactly the links named.
Pairs make_platform(const Scene& scene) {
  auto* zone = sg::create_full_zone("world");
  std::vector<sg::Link*> links;
  for (std::size_t i = 0; i < scene.capacities.size(); ++i) {
    links.push_back(
        zone->create_link("link" + std::to_string(i), scene.capacities[i])->set_latency(0)->seal());
  }
  Pairs hosts;
  for (std::size_t i = 0; i < scene.transfers.size(); ++i) {
    auto* from = zone->create_host("from" + std::to_string(i), 1e9)->seal();
    auto* to = zone->create_host("to" + std::to_string(i), 1e9)->seal();
    std::vector<sg::LinkInRoute> route;
    for (const LinkId link : scene.transfers[i].route) route.emplace_back(links[link]);
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
    hosts.emplace_back(from, to);
  }
  zone->seal();
  return hosts;
}

std::vector<double> run_ends(const Scene& scene) {
  sg::Engine& engine = make_engine();
  const Pairs hosts = make_platform(scene);
  std::vector<double> ends(scene.transfers.size(), -1);
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

/// From what is left after a while in which nothing can have ended: all bytes at once over the fastest link
/// take twice as long.
std::vector<double> run_rates(const Scene& scene) {
  sg::Engine& engine = make_engine();
  const Pairs hosts = make_platform(scene);
  double soon = 1e9;
  for (const Transfer& transfer : scene.transfers) {
    for (const double capacity : scene.capacities)
      soon = std::min(soon, static_cast<double>(transfer.bytes) / capacity / 2);
  }
  std::vector<double> rates(scene.transfers.size(), -1);
  sg::Actor::create("observer", hosts.front().first, [&] {
    std::vector<sg::CommPtr> sent;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      sent.push_back(sg::Comm::sendto_async(hosts[i].first, hosts[i].second,
                                            static_cast<std::uint64_t>(scene.transfers[i].bytes)));
    }
    sg::this_actor::sleep_for(soon);
    for (std::size_t i = 0; i < sent.size(); ++i)
      rates[i] = (static_cast<double>(scene.transfers[i].bytes) - sent[i]->get_remaining()) / soon;
    for (const sg::CommPtr& comm : sent) comm->wait();
  });
  engine.run();
  return rates;
}

std::vector<sg::Host*> make_ring(const RingScene& ring) {
  auto* zone = sg::create_full_zone("world");
  std::vector<double> latencies(ring.capacities.size(), 0);
  for (const std::vector<LinkId>& route : ring.routes) latencies[route.front()] = ring.latency;
  std::vector<sg::Link*> links;
  for (std::size_t i = 0; i < ring.capacities.size(); ++i) {
    links.push_back(
        zone->create_link("link" + std::to_string(i), ring.capacities[i])->set_latency(latencies[i])->seal());
  }
  std::vector<sg::Host*> hosts;
  for (std::size_t r = 0; r < ring.routes.size(); ++r)
    hosts.push_back(zone->create_host("host" + std::to_string(r), 1e9)->seal());
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    std::vector<sg::LinkInRoute> route;
    for (const LinkId link : ring.routes[r]) route.emplace_back(links[link]);
    zone->add_route(hosts[r]->get_netpoint(), hosts[(r + 1) % hosts.size()]->get_netpoint(), nullptr, nullptr,
                    route, false);
  }
  zone->seal();
  return hosts;
}

/// Mailboxes have a permanent receiver, so a message starts when it is sent, not when it is asked for.
std::vector<double> run_ring(const RingScene& ring) {
  sg::Engine& engine = make_engine();
  const std::vector<sg::Host*> hosts = make_ring(ring);
  std::vector<double> ends(hosts.size(), -1);
  std::vector<sg::ActorPtr> actors;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    actors.push_back(sg::Actor::create("rank" + std::to_string(r), hosts[r], [&ring, &ends, r] {
      auto* next = sg::Mailbox::by_name(std::to_string((r + 1) % ends.size()));
      auto* own = sg::Mailbox::by_name(std::to_string(r));
      static int token = 0;
      sg::this_actor::sleep_until(ring.start[r]);
      for (int step = 0; step < ring.steps; ++step) {
        const sg::CommPtr sent = next->put_async(&token, static_cast<std::uint64_t>(ring.bytes));
        own->get<int>();
        sent->wait();
      }
      ends[r] = sg::Engine::get_clock();
    }));
    sg::Mailbox::by_name(std::to_string(r))->set_receiver(actors.back());
  }
  engine.run();
  return ends;
}

}  // namespace

std::vector<double> simgrid_ends(const Scene& scene) {
  return in_child([&] { return run_ends(scene); });
}

std::vector<double> simgrid_rates(const Scene& scene) {
  return in_child([&] { return run_rates(scene); });
}

std::vector<double> simgrid_ring_ends(const RingScene& ring) {
  return in_child([&] { return run_ring(ring); });
}

}  // namespace foretrain::test

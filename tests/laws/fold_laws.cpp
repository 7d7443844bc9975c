// Laws of folding: a run over classes of flows ends when the run over all flows does, on machines with
// symmetry and without.
#include <algorithm>
#include <numeric>

#include "sim/base/random.hpp"
#include "sim/engine/equitable_classes.hpp"
#include "sim/engine/fold.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace fold_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::uint64_t kSystems = 1000;
const CounterRandom kRandom(31);

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t below(std::uint64_t limit) {
    return static_cast<std::uint32_t>(kRandom.bits(seed_, index_++) % limit);
  }

 private:
  std::uint64_t seed_, index_ = 0;
};

struct Scene {
  TaskGraph graph;
  std::vector<ByteRate> links;
};

/// 1 to 8 collectives, on 1 to 4 queues, so that some run at once, and now and then two of one pattern.
void add_collectives(Scene& scene, Draw& draw) {
  std::vector<QueueId> queues;
  for (std::uint32_t n = 1 + draw.below(4); n > 0; --n) queues.push_back(scene.graph.add_queue("queue"));
  for (std::uint32_t n = 1 + draw.below(8); n > 0; --n) {
    const QueueId queue = queues[draw.below(queues.size())];
    scene.graph.add(collective_task(queue, draw.below(4) * us, draw.below(scene.graph.pattern_count()),
                                    {1000 * draw.below(50)}));
  }
}

/// Few links of few capacities, routes at random: hardly any symmetry, many ties.
Scene without_symmetry(std::uint64_t seed) {
  Draw draw(seed);
  Scene scene;
  const std::uint32_t links = 1 + draw.below(8);
  for (std::uint32_t link = 0; link < links; ++link) scene.links.push_back({1e9 * (1 + draw.below(2))});
  for (std::uint32_t n = 1 + draw.below(3); n > 0; --n) {
    std::vector<PatternFlow> flows;
    for (std::uint32_t f = 1 + draw.below(9); f > 0; --f) {
      PatternFlow flow{{}, 0.5 * draw.below(3)};
      for (std::uint32_t hops = draw.below(4); hops > 0; --hops) flow.route.push_back(draw.below(links));
      flows.push_back(flow);
    }
    scene.graph.add_pattern(flows);
  }
  add_collectives(scene, draw);
  return scene;
}

/// Nodes with some GPUs and NICs under leaves with fewer links up than down; each pattern is rings that skip
/// one, two, … GPUs. Links: per GPU out and in, per NIC out and in, per leaf and spine up and down. Now and
/// then one NIC is slower.
class Machine {
 public:
  Machine(std::uint32_t nodes, std::uint32_t gpus, std::uint32_t nics, std::uint32_t spines)
      : nodes_(nodes), gpus_(gpus), nics_(nics), spines_(spines) {}

  std::vector<ByteRate> links() const {
    std::vector<ByteRate> links(2 * nodes_ * gpus_, {20e9});
    links.insert(links.end(), 2 * nodes_ * nics_, {12.5e9});
    links.insert(links.end(), nodes_ * spines_, {25e9});
    return links;
  }

  std::vector<PatternFlow> ring(std::uint32_t step, double weight) const {
    std::vector<PatternFlow> flows;
    const std::uint32_t ranks = nodes_ * gpus_;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      flows.push_back({route(rank, (rank + step) % ranks), weight});
    return flows;
  }

 private:
  std::vector<LinkId> route(std::uint32_t from, std::uint32_t to) const {
    std::vector<LinkId> links{2 * from};
    const std::uint32_t node = from / gpus_, far = to / gpus_;
    if (node != far) {
      const std::uint32_t first_nic = 2 * nodes_ * gpus_, first_spine = first_nic + 2 * nodes_ * nics_;
      links.push_back(first_nic + 2 * (node * nics_ + from % gpus_ % nics_));
      // Leaves of two nodes; up and down in one number, since nothing depends on the direction.
      if (node / 2 != far / 2) {
        links.push_back(first_spine + node / 2 * 2 * spines_ + from % spines_);
        links.push_back(first_spine + far / 2 * 2 * spines_ + spines_ + from % spines_);
      }
      links.push_back(first_nic + 2 * (far * nics_ + to % gpus_ % nics_) + 1);
    }
    links.push_back(2 * to + 1);
    return links;
  }

  std::uint32_t nodes_, gpus_, nics_, spines_;
};

Scene with_symmetry(std::uint64_t seed) {
  Draw draw(seed);
  Scene scene;
  const std::uint32_t gpus = 1u << draw.below(4);
  const Machine machine(2 * (1 + draw.below(4)), gpus, 1 + draw.below(gpus), 1 + draw.below(3));
  scene.links = machine.links();
  if (draw.below(3) == 0) scene.links[2 * gpus * 2] = {3e9};
  for (std::uint32_t n = 1 + draw.below(3); n > 0; --n)
    scene.graph.add_pattern(machine.ring(1 + draw.below(3) * draw.below(gpus), 0.5 * (1 + draw.below(3))));
  add_collectives(scene, draw);
  return scene;
}

std::size_t flows_of(const Scene& scene, Folding folding) {
  return FoldedPatterns(scene.graph, scene.links, folding).flow_count();
}

void require_same_ends(const Scene& scene) {
  const auto folded_links = make_max_min_network(scene.links), links = make_max_min_network(scene.links);
  const Timeline folded = run(scene.graph, *folded_links), full = run(scene.graph, *links, Folding::off);
  for (TaskId task = 0; task < full.spans.size(); ++task) {
    // A sum rounded another way may move each end before this one by a picosecond.
    REQUIRE(std::abs((folded.end_of(task) - full.end_of(task)).count()) <=
            static_cast<std::int64_t>(full.spans.size()));
  }
}

}  // namespace

TEST_CASE("law: folded ends are full ends on machines with symmetry, also when collectives run at once") {
  std::size_t folded = 0, full = 0;
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    CAPTURE(seed);
    const Scene scene = with_symmetry(seed);
    require_same_ends(scene);
    folded += flows_of(scene, Folding::on);
    full += flows_of(scene, Folding::off);
  }
  CHECK(folded * 3 < full);
}

TEST_CASE("law: folded ends are full ends where there is little symmetry") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    CAPTURE(seed);
    require_same_ends(without_symmetry(seed));
  }
}

TEST_CASE("law: a network of the links that patterns cross is as good as one of all links") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    CAPTURE(seed);
    const Scene scene = seed % 2 == 0 ? with_symmetry(seed) : without_symmetry(seed);
    const Timeline of_all = run(scene.graph, *make_max_min_network(scene.links));
    const Timeline of_crossed = run(scene.graph, [&](LinkId link) { return scene.links[link]; });
    REQUIRE(of_crossed.spans == of_all.spans);
  }
}

TEST_CASE("law: folding changes nothing without contention either") {
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    CAPTURE(seed);
    const Scene scene = seed % 2 == 0 ? with_symmetry(seed) : without_symmetry(seed);
    const auto folded_links = make_ideal_network(scene.links), links = make_ideal_network(scene.links);
    const Timeline folded = run(scene.graph, *folded_links), full = run(scene.graph, *links, Folding::off);
    for (TaskId task = 0; task < full.spans.size(); ++task) REQUIRE(folded.end_of(task) == full.end_of(task));
  }
}

TEST_CASE(
    "law: every flow is in one class, and the classes of a pattern have as many members as it has flows") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Scene scene = with_symmetry(seed);
    const FoldedPatterns folded(scene.graph, scene.links, Folding::on),
        full(scene.graph, scene.links, Folding::off);
    for (PatternId pattern = 0; pattern < scene.graph.pattern_count(); ++pattern) {
      std::size_t members = 0;
      for (const FoldedPatterns::Flow& flow : folded.flows(pattern)) members += flow.members;
      REQUIRE(members == full.flows(pattern).size());
    }
  }
}

TEST_CASE("a ring over 4,096 nodes folds to one flow over one link") {
  // Each flow has all its links for itself, and the NIC is the narrowest also where the flow leaves the leaf.
  const Machine machine(4096, 1, 1, 1);
  TaskGraph graph;
  graph.add(collective_task(graph.add_queue("nccl"), {}, graph.add_pattern(machine.ring(1, 1)), {1000}));
  const FoldedPatterns folded(graph, machine.links(), Folding::on);
  REQUIRE(folded.flow_count() == 1);
  CHECK(folded.flows(0)[0].members == 4096);
  CHECK(folded.route(folded.flows(0)[0]).size() == 1);
}

TEST_CASE("a flow that stands for sixteen takes sixteen shares of the link they have in common") {
  // 16 flows of 10 GB/s NICs into one link of 40 GB/s: 2.5 GB/s each, 25 kB in 10 us.
  Scene scene;
  std::vector<PatternFlow> flows;
  for (LinkId nic = 0; nic < 16; ++nic) flows.push_back({{nic, 16}, 1}), scene.links.push_back({10e9});
  scene.links.push_back({40e9});
  scene.graph.add(
      collective_task(scene.graph.add_queue("nccl"), {}, scene.graph.add_pattern(flows), {25'000}));
  const FoldedPatterns folded(scene.graph, scene.links, Folding::on);
  REQUIRE(folded.flow_count() == 1);
  REQUIRE(folded.route(folded.flows(0)[0]).size() == 2);
  CHECK(folded.route(folded.flows(0)[0])[0].shares == 16);
  CHECK(run_on(scene.graph, scene.links).end_of(0) == 10 * us);
}

TEST_CASE("a narrow NIC makes classes of its own flow, of those that share a link with it, and of the rest") {
  // Four flows, two and two over links 4 and 5; NIC 0 is slower.
  TaskGraph graph;
  std::vector<PatternFlow> flows;
  for (LinkId nic = 0; nic < 4; ++nic) flows.push_back({{nic, 4 + nic / 2}, 1});
  graph.add(collective_task(graph.add_queue("nccl"), {}, graph.add_pattern(flows), {1000}));
  const std::vector<ByteRate> links{{5e9}, {10e9}, {10e9}, {10e9}, {16e9}, {16e9}};
  CHECK(FoldedPatterns(graph, links, Folding::on).flow_count() == 3);
}

TEST_CASE("a long chain in which every flow is another is left as it is") {
  // Flow i shares link i with flow i + 1: the distance to the ends tells them apart, in more rounds than are
  // tried.
  TaskGraph graph;
  std::vector<PatternFlow> flows;
  for (LinkId i = 0; i < 300; ++i) flows.push_back({{i, i + 1}, 1});
  graph.add(collective_task(graph.add_queue("nccl"), {}, graph.add_pattern(flows), {1000}));
  CHECK(FoldedPatterns(graph, std::vector<ByteRate>(301, {1e9}), Folding::on).flow_count() == 300);
}

TEST_CASE("law: classes do not hang on the order in which flows are named") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    const Machine machine(2 * (1 + draw.below(4)), 4, 2, 2);
    std::vector<PatternFlow> flows = machine.ring(1, 1);
    const auto classes_of = [&] {
      TaskGraph graph;
      graph.add(collective_task(graph.add_queue("nccl"), {}, graph.add_pattern(flows), {1000}));
      return FoldedPatterns(graph, machine.links(), Folding::on).flow_count();
    };
    const std::size_t before = classes_of();
    for (std::size_t i = flows.size(); i > 1; --i) std::swap(flows[i - 1], flows[draw.below(i)]);
    REQUIRE(classes_of() == before);
  }
}

}  // namespace fold_laws

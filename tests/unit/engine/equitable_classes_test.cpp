// Classes of flows and links that nothing tells apart, and patterns folded by them: what is alike is one
// class and no finer, which the laws of folding cannot see, since a finer partition gives the same answers.
#include "sim/engine/equitable_classes.hpp"

#include "sim/engine/fold.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace equitable_classes_test {

using namespace foretrain;
using Numbers = std::vector<std::uint32_t>;

namespace {

/// Flows by the links they cross; all of one kind, as all links are.
Incidence incidence_of(const std::vector<Numbers>& routes, std::size_t links) {
  Incidence incidence;
  for (const Numbers& route : routes) {
    incidence.links.insert(incidence.links.end(), route.begin(), route.end());
    incidence.first_link.push_back(static_cast<std::uint32_t>(incidence.links.size()));
  }
  incidence.flow_kind.assign(routes.size(), 7);
  incidence.link_kind.assign(links, 9);
  return incidence;
}

/// Four flows around a ring of four links, each over two of them.
Incidence ring() { return incidence_of({{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 4); }

}  // namespace

TEST_CASE("flows around a ring of equal links are one class, and so are the links") {
  const auto classes = equitable_classes(ring());
  REQUIRE(classes);
  CHECK(classes->of_flow == Numbers{0, 0, 0, 0});
  CHECK(classes->of_link == Numbers{0, 0, 0, 0});
  CHECK((classes->flows == 1 && classes->links == 1));
}

TEST_CASE("one other link tells its neighbours from those across, and no more") {
  Incidence incidence = ring();
  incidence.link_kind[0] = 10;
  const auto classes = equitable_classes(incidence);
  REQUIRE(classes);
  CHECK(classes->of_flow == Numbers{0, 1, 1, 0});
  CHECK(classes->of_link == Numbers{0, 1, 2, 1});
  CHECK((classes->flows == 2 && classes->links == 3));
}

TEST_CASE("a flow of another kind, or one that crosses a link twice, is a class of its own") {
  Incidence other = incidence_of({{0}, {1}, {2}}, 3);
  other.flow_kind[2] = 8;
  CHECK(equitable_classes(other)->of_flow == Numbers{0, 0, 1});
  CHECK(equitable_classes(other)->of_link == Numbers{0, 0, 1});
  CHECK(equitable_classes(incidence_of({{0}, {1}, {2, 2}}, 3))->of_flow == Numbers{0, 0, 1});
}

TEST_CASE("links that carry unlike numbers of flows are told apart, and with them their flows") {
  const auto classes = equitable_classes(incidence_of({{0}, {0}, {1}, {2}}, 3));
  REQUIRE(classes);
  CHECK(classes->of_flow == Numbers{0, 0, 1, 1});
  CHECK(classes->of_link == Numbers{0, 1, 1});
}

TEST_CASE("a thousand alike flows fold to one, which stands for all of them") {
  constexpr std::uint32_t kFlows = 1000;
  TaskGraph graph;
  std::vector<PatternFlow> flows;
  for (std::uint32_t f = 0; f < kFlows; ++f) flows.push_back({{f, kFlows}, 1});
  const PatternId pattern = graph.add_pattern(flows);
  graph.add(test::collective_task(graph.add_queue("queue"), Time{}, pattern, {1000}));
  const FoldedPatterns folded(graph, [](LinkId link) { return ByteRate{link == kFlows ? 5e9 : 1e9}; });
  REQUIRE(folded.flow_count() == 1);
  CHECK(folded.flows(pattern).front().members == kFlows);
  CHECK(folded.capacities().size() == kFlows + 1);
  const std::vector<ByteRate> capacities(kFlows + 1, ByteRate{1e9});
  CHECK(FoldedPatterns(graph, capacities, Folding::on).flow_count() == 1);
  CHECK(FoldedPatterns(graph, capacities, Folding::off).flow_count() == kFlows);
}

}  // namespace equitable_classes_test

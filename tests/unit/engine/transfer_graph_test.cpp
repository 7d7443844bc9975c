// Tests of building transfer graphs: rows of routes and needs, counts beyond 32 bits.
#include "sim/engine/transfer_graph.hpp"

#include "tests/support/catch.hpp"

namespace transfer_graph_test {

using namespace foretrain;

TEST_CASE("a transfer graph keeps the routes and needs of its connections apart") {
  TransferGraph graph;
  const std::vector<LinkId> links{4, 7, 9};
  const std::vector<Need> needs{{1, 2}, {0, -1}};
  CHECK(graph.add({}, std::span(links).first(2)) == 0);
  CHECK(graph.add({}, std::span(links).last(1), needs) == 1);
  CHECK(graph.route(0).size() == 2);
  CHECK(graph.route(0)[1] == 7);
  CHECK(graph.route(1)[0] == 9);
  CHECK(graph.needs_of(0).empty());
  CHECK(graph.needs_of(1)[1].lag == -1);
}

TEST_CASE("transfers of a graph are counted in 64 bits, and a cleared graph has none") {
  TransferGraph graph;
  graph.ranks = 2;
  Connection connection;
  connection.transfers = 4'000'000'000;
  for (int i = 0; i < 3; ++i) graph.add(connection, {});
  CHECK(graph.transfers() == 12'000'000'000);
  graph.clear();
  CHECK(graph.transfers() == 0);
  CHECK(graph.ranks == 0);
}

}  // namespace transfer_graph_test

// Recorded programs expanded: operators with one price share an entry, others do not.
#include "sim/workload/program/expand_program.hpp"

#include "tests/support/catch.hpp"

namespace expand_program_test {

using namespace foretrain;

namespace {

/// A program of 3 x 3 convolutions of one image of one position, one for each of the strides.
ProgramRank convolutions(const std::vector<double>& strides) {
  ProgramRank rank;
  rank.like = {{0, 1, 1}};
  rank.streams.id_of("");
  RecordedNetwork& network = rank.network;
  network.module_names.id_of(""), network.node_names.id_of("");
  network.sizes = {{ElementType::f32, {{1, 0}, {32, 0}, {1, 0}, {1, 0}}},
                   {ElementType::f32, {{32, 0}, {32, 0}, {3, 0}, {3, 0}}}};
  for (const double stride : strides) {
    RecordedOperator op;
    op.name = network.operator_names.id_of("aten::convolution");
    op.in = {0, 1}, op.out = {0};
    op.with = {{"stride", {stride, stride}, ""}, {"padding", {1, 1}, ""}, {"groups", {1}, ""}};
    ProgramRow row;
    row.index = static_cast<std::uint32_t>(network.operators.size());
    network.operators.push_back(std::move(op));
    rank.rows.push_back(row);
  }
  return rank;
}

}  // namespace

TEST_CASE("operators that differ in the stride alone have prices of their own, equal ones share one") {
  const ExpandedRank equal = expand_rank(convolutions({1, 1})), other = expand_rank(convolutions({1, 2}));
  CHECK(equal.operators.size() == 1);
  CHECK(equal.events.size() == 2);
  REQUIRE(other.operators.size() == 2);
  CHECK(other.operators[0].products[0].stride == 1);
  CHECK(other.operators[1].products[0].stride == 2);
}

}  // namespace expand_program_test

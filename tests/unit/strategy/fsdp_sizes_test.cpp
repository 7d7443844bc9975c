// What FSDP puts on the wire: padding, units at the ends of a network, norms of gradients.
#include "sim/strategy/fsdp/fsdp.hpp"
#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/model_file.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace fsdp_sizes_test {

using namespace foretrain;
using test::blocks_on;
using test::kLinear;
using test::model_file;
using test::named_blocks;
using test::plan_of;
using test::sent_per_step;
using test::SmallPlan;

namespace {

/// Linear layers of 1024 x 1024 with a bias each: stem, blocks, head.
ModelUnits padded(bool per_parameter, int shards) {
  const ExpandedModel model = expand(named_blocks(2)).model;
  FsdpSettings settings;
  settings.per_parameter = per_parameter, settings.shards = shards;
  ModelUnits units = units_by_block(model);
  pad_units(units, model, settings);
  return units;
}

SmallPlan clipped(SmallPlan small) {
  small.workload.loop.clip_grad_norm = GradientClipping::on_device;
  return small;
}

}  // namespace

TEST_CASE("FSDP2 pads the rows of each parameter and FSDP1 the flat tensor") {
  constexpr int kShards = 24;
  // 1024 rows of a weight, and 1024 numbers of a bias: 43 for each of 24 ranks, 1032 together.
  CHECK(padded(true, kShards).units[1].gathered == 1032 * 1024 + 1032);
  CHECK(padded(true, kShards).units[1].reduced == 1032 * 1024 + 1032);
  CHECK(padded(false, kShards).units[1].gathered == (kLinear + kShards - 1) / kShards * kShards);
}

TEST_CASE("sizes that divide are not padded") {
  CHECK(padded(true, 8).units[1].gathered == kLinear);
  CHECK(padded(false, 8).units[1].gathered == kLinear);
}

TEST_CASE("with units at the ends the root holds nothing and the last unit stays whole") {
  const ExpandedModel model = expand(named_blocks(2)).model;
  const ModelUnits units = units_with_ends(model, false);
  REQUIRE(units.units.size() == 5);
  CHECK(units.units[0].elements == 0);
  CHECK(units.units[1].name == "in front of blocks");
  CHECK(units.units[4].name == "behind blocks");
  CHECK(units.units[4].reshard == Reshard::never);
  CHECK(units.units[1].reshard == Reshard::by_sharding);
}

TEST_CASE("a chunked loss gathers norm and head together and reduces them apart") {
  const ExpandedModel model = model_file("llama3_8b");
  ModelUnits units = units_with_ends(model, true);
  FsdpSettings settings;
  settings.per_parameter = true, settings.shards = 8;
  pad_units(units, model, settings);
  const ModelUnit &norm = units.units[34], &head = units.units[35];
  CHECK(norm.reduced == 4096);
  CHECK(head.reduced == 128'256 * 4096);
  CHECK(norm.gathered == norm.reduced + head.reduced);
  CHECK(head.gathered == norm.gathered);
  CHECK(norm.reshard == Reshard::always);
  CHECK_FALSE(head.prefetches);
}

TEST_CASE("FSDP2 sums the norms of all tensors and FSDP1 one number") {
  const Plan two = plan_of(clipped(blocks_on(4)), "fsdp2");
  const Plan one = plan_of(clipped(blocks_on(4)), "fsdp");
  // Twelve tensors: weight and bias of stem, four blocks and head.
  CHECK(sent_per_step(two, "sum of norms") == test::Sent{4 * 12, 1});
  CHECK(sent_per_step(one, "sum of norms") == test::Sent{4, 1});
  CHECK(sent_per_step(plan_of(blocks_on(4), "fsdp2"), "sum of norms") == test::Sent{0, 0});
}

}  // namespace fsdp_sizes_test

// What Horovod runs with: defaults of its versions, what is given, what the job's shape makes of it.
#include "sim/strategy/horovod/horovod_settings.hpp"

#include "sim/strategy/horovod/horovod_options.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace horovod_settings_test {

using namespace foretrain;
using test::SmallPlan;

namespace {

struct Settled {
  HorovodSettings settings;
  Decisions decisions;
};

Settled settled(const SmallPlan& small, const Placement& placement) {
  const Cluster cluster = Cluster::build(small.spec, placement.nodes);
  Settled settled;
  settled.settings =
      horovod_settings({small.workload, cluster, placement, small.knobs, small.device}, settled.decisions);
  return settled;
}

HorovodSettings settings_of(const SmallPlan& small) {
  return settled(small, place_packed(small.gpus, small.spec.node.gpus)).settings;
}

SmallPlan on_two_nodes_of_four(std::optional<FrameworkVersion> version = {}) {
  SmallPlan small;
  small.spec = test::pcie_cluster(2, 4);
  small.gpus = 8;
  small.knobs.edit<HorovodOptions>().horovod_version = version;
  return small;
}

}  // namespace

TEST_CASE("today's Horovod has cycles of 1 ms and messages of 128 MiB, and leaves waiting to the GPU") {
  const HorovodSettings settings = settings_of(on_two_nodes_of_four());
  CHECK(settings.cycle_time == milliseconds(1));
  CHECK(settings.threshold.count == 128 << 20);
  CHECK(settings.batched_copies);
  CHECK_FALSE(settings.waits_for_data);
  CHECK(settings.levels == HorovodLevels::plain);
  CHECK(settings.ranks_per_node == 4);
  CHECK(settings.cache == ResponseCache::holds_all);
}

TEST_CASE("0.20 is the last version with 5 ms, 64 MiB and single copies") {
  const HorovodSettings before = settings_of(on_two_nodes_of_four(FrameworkVersion{0, 20}));
  CHECK(before.cycle_time == milliseconds(5));
  CHECK(before.threshold.count == 64 << 20);
  CHECK_FALSE(before.batched_copies);
  const HorovodSettings after = settings_of(on_two_nodes_of_four(FrameworkVersion{0, 21}));
  CHECK(after.cycle_time == milliseconds(1));
  CHECK(after.threshold.count == 128 << 20);
  CHECK(after.batched_copies);
}

TEST_CASE("batched copies cannot be had before they existed") {
  SmallPlan small = on_two_nodes_of_four(FrameworkVersion{0, 19});
  small.knobs.edit<HorovodOptions>().batch_copies = true;
  CHECK_FALSE(settings_of(small).batched_copies);
}

TEST_CASE("0.9 is older than 0.21: versions are compared number by number") {
  CHECK(settings_of(on_two_nodes_of_four(FrameworkVersion{0, 9})).cycle_time == milliseconds(5));
}

TEST_CASE("the threshold is rounded for equal nodes and taken as given for unequal ones") {
  SmallPlan small = on_two_nodes_of_four();
  small.knobs.edit<HorovodOptions>().fusion_threshold = Bytes{10'000};
  CHECK(settings_of(small).threshold.count == 10'240);  // 5 x 4 x 512
  CHECK(settled(small, place(5, 4, Layout::packed, 2)).settings.threshold.count == 10'000);
}

TEST_CASE("two levels need equal nodes of several GPUs") {
  SmallPlan small = on_two_nodes_of_four();
  small.knobs.edit<HorovodOptions>().torus_allreduce = true;
  CHECK(settings_of(small).levels == HorovodLevels::torus);
  CHECK(settled(small, place(5, 4, Layout::packed, 2)).settings.levels == HorovodLevels::plain);
  CHECK(settled(small, place(2, 4, Layout::spread, 2)).settings.levels == HorovodLevels::plain);
}

TEST_CASE("hierarchical all-reduce wins over torus when both are asked for") {
  SmallPlan small = on_two_nodes_of_four();
  small.knobs.edit<HorovodOptions>().torus_allreduce =
      small.knobs.edit<HorovodOptions>().hierarchical_allreduce = true;
  CHECK(settings_of(small).levels == HorovodLevels::hierarchical);
}

TEST_CASE("compression makes elements of two bytes out of those of four") {
  SmallPlan small = on_two_nodes_of_four();
  CHECK(settings_of(small).element_bytes == 4);
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  CHECK(settings_of(small).compresses);
  CHECK(settings_of(small).element_bytes == 2);
}

}  // namespace horovod_settings_test

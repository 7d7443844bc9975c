// DDP over gloo between idle nodes without GPUs against closed forms: computing of known length and rings
// that share their links.
#include <algorithm>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace ddp_gloo_physics {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;

namespace {

constexpr double kRate = 0.1e9;           // bytes per second of every node
constexpr double kWire = 0.97;            // of which gloo's transport loses 3 %
constexpr std::int64_t kLayer = 500'000;  // parameters, 2 MB
constexpr int kLayers = 6;

/// Layers of 5 ms forward and 10 ms backward on nodes whose cores compute.
SmallPlan sleeping(int ranks, Bytes cap) {
  Layer layer = test::plain("timed");
  test::set(layer, "parameters", kLayer);
  test::set(layer, "forward", milliseconds(5)), test::set(layer, "backward", milliseconds(10));
  Model model{"sleeps", "", {1}, false, std::vector<Layer>(kLayers, layer)};
  model.layers.push_back(test::plain("loss"));
  SmallPlan small(model, 1);
  small.spec = test::star_cluster(8, {kRate});
  small.spec.node.gpu.architecture = Architecture::cpu;
  small.device.kernel = default_kernel_calibration(small.spec.node.gpu);
  small.knobs.edit<DdpOptions>().backend = Backend::gloo;
  small.knobs.edit<DdpOptions>().bucket_cap = cap;
  small.gpus = ranks;
  return small;
}

/// A ring sends 2 (n - 1) / n of the data over each link.
double ring(int ranks, double bytes) { return 2.0 * (ranks - 1) / ranks * bytes / (kWire * kRate); }

constexpr double kForward = kLayers * 5e-3, kBackward = kLayers * 10e-3, kBytes = 4.0 * kLayer;

}  // namespace

TEST_CASE(
    "over a slow network the step is forward, the first layer's backward and all bytes, whatever the "
    "buckets") {
  // The network is busy from the first bucket on: every layer of 2 MB closes a bucket of 1 MiB, and a ring of
  // it takes longer than 10 ms.
  for (const int ranks : {2, 4, 8}) {
    const double expected = kForward + kBackward / kLayers + ring(ranks, kLayers * kBytes);
    INFO(ranks << " ranks");
    CHECK(run_plan(sleeping(ranks, {1 << 20}), "ddp").last_step_s() == Approx(expected).epsilon(0.03));
  }
}

TEST_CASE("one late bucket begins when backward ends") {
  // The first bucket is the last layer alone, 2 MB; it is through before the others are ready if its ring is
  // short enough.
  const int ranks = 2;
  const double first = ring(ranks, kBytes), rest = ring(ranks, (kLayers - 1) * kBytes);
  REQUIRE(first < kBackward * (kLayers - 1) / kLayers);
  const double expected = kForward + kBackward + rest;
  CHECK(run_plan(sleeping(ranks, {100 << 20}), "ddp").last_step_s() == Approx(expected).epsilon(0.03));
}

TEST_CASE(
    "two operations in progress share the links: neither is through before the bytes of both have crossed") {
  const test::Ran ran = run_plan(sleeping(4, {1 << 20}), "ddp");
  const auto sent = test::tasks_labelled(ran.plan.graph, TaskKind::collective, "all_reduce bucket");
  const Time first = ran.timeline.spans[sent[0]].start;
  // Alone the first takes ring(4, 2 MB) = 31 ms; 10 ms after it the second begins. 31 ms of bytes: 10 alone,
  // then 21 at half the rate.
  const double alone = ring(4, kBytes), head = 10e-3;
  CHECK(to_seconds(ran.timeline.end_of(sent[0]) - first) == Approx(head + 2 * (alone - head)).epsilon(0.05));
}

TEST_CASE("half the bytes take half the time behind a slow network") {
  SmallPlan whole = sleeping(4, {1 << 20}), half = whole;
  half.knobs.edit<GradientOptions>().compression = Compression::fp16;
  const double saved = run_plan(whole, "ddp").last_step_s() - run_plan(half, "ddp").last_step_s();
  CHECK(saved == Approx(ring(4, kLayers * kBytes) / 2).epsilon(0.05));
}

}  // namespace ddp_gloo_physics

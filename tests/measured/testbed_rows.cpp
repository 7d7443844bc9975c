// Steps of real PyTorch DDP over gloo between rate-limited network namespaces against ours
// (docs/measured/testbed.jsonl; more rows of the kind come from testbed/run_testbed), and gloo's all-reduce
// alone. Computing is sleeps of known length: all that is predicted are buckets, overlap and collectives.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/collective/transport_run.hpp"
#include "sim/engine/executor.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/strategy/ddp/ddp.hpp"
#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured.hpp"
#include "tests/support/test_models.hpp"

namespace testbed_rows {

using namespace foretrain;
using nlohmann::json;

namespace {

/// Rows of one kind. FORETRAIN_TESTBED names another file, say of an own run.
std::vector<json> rows_of(std::string_view kind) {
  const char* own = std::getenv("FORETRAIN_TESTBED");
  std::ifstream file(own != nullptr ? std::filesystem::path(own) : test::kMeasured / "testbed.jsonl");
  std::vector<json> rows;
  for (std::string line; std::getline(file, line);) {
    json row = json::parse(line);
    if (row.value("kind", "") == kind) rows.push_back(std::move(row));
  }
  return rows;
}

/// The catalog's testbed with the row's rate: 1448 of the 1514 bytes of a frame that the token bucket counts
/// are payload.
ClusterSpec testbed(const json& row) {
  ClusterSpec spec = open_cluster("gloo-testbed");
  spec.fabric.link.bandwidth = {row.at("link_mbit").get<double>() * 1e6 / 8 * 1448 / 1514};
  return spec;
}

std::shared_ptr<const ExpandedModel> sleeping_network(const json& layers) {
  Model model{"sleeps", "", {1}, false, {}};
  for (const json& given : layers) {
    Layer layer = test::plain("timed");
    test::set(layer, "parameters", given.at("params").get<std::int64_t>());
    test::set(layer, "forward", seconds(given.at("forward_s")));
    test::set(layer, "backward", seconds(given.at("backward_s")));
    model.layers.push_back(layer);
  }
  Layer loss = test::plain("loss");
  model.layers.push_back(loss);
  return std::make_shared<const ExpandedModel>(expand(model).model);
}

struct Step {
  double seconds = 0;
  std::vector<std::int64_t> buckets;
};

/// Forward and backward with gradients reduced, one sample, no jitter.
Step predicted_step(const json& row) {
  const ClusterSpec spec = testbed(row);
  const Placement placement = place_packed(row.at("ranks"), 1);
  const Cluster cluster = Cluster::build(spec, placement.nodes);
  Workload workload;
  workload.model = sleeping_network(row.at("layers"));
  workload.batch_per_gpu = 1;
  StrategyOptions knobs;
  knobs.edit<DdpOptions>().backend = Backend::gloo;
  knobs.edit<DdpOptions>().bucket_cap = {row.at("bucket_cap_mib").get<std::int64_t>() << 20};
  DeviceModel device;
  device.kernel = default_kernel_calibration(spec.node.gpu);
  device.rank_spread = 0;
  const Plan plan = plan_ddp({workload, cluster, placement, knobs, device, 4});
  const Timeline timeline = run(plan.graph, *make_max_min_network(cluster.capacities()));
  Step step{to_seconds(timeline.end_of(plan.step_ends[3]) - timeline.end_of(plan.step_ends[2])), {}};
  for (const Bytes bucket : plan.buckets) step.buckets.push_back(bucket.count);
  return step;
}

double error_of(double predicted, double measured) { return std::abs(predicted / measured - 1); }

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

TEST_CASE("steps of real DDP over gloo are predicted within 5 % in the median and 15 % at worst") {
  const std::vector<json> rows = rows_of("ddp_step");
  REQUIRE_FALSE(rows.empty());
  std::vector<double> errors;
  for (const json& row : rows) {
    const std::string name = fmt::format(
        "{} Mbit/s, {} ranks, {}, cap {} MiB", row.at("link_mbit").get<int>(), row.at("ranks").get<int>(),
        row.at("model").get<std::string>(), row.at("bucket_cap_mib").get<int>());
    const Step step = predicted_step(row);
    const double measured = row.at("step_s");
    INFO(fmt::format("{}: {:.4f} s predicted, {:.4f} s measured", name, step.seconds, measured));
    CHECK(step.buckets == row.at("buckets_bytes").get<std::vector<std::int64_t>>());
    CHECK(error_of(step.seconds, measured) < 0.15);
    errors.push_back(error_of(step.seconds, measured));
  }
  CHECK(median(errors) < 0.05);
}

TEST_CASE("all-reduces of gloo from 64 KiB up are predicted within 6 % in the median") {
  const std::vector<json> rows = rows_of("all_reduce");
  REQUIRE_FALSE(rows.empty());
  const Transport transport = gloo_over_tcp();
  std::vector<double> errors;
  for (const json& row : rows) {
    const Placement placement = place_packed(row.at("ranks"), 1);
    const Cluster cluster = Cluster::build(testbed(row), placement.nodes);
    TransportRequest job(cluster, placement, transport);
    for (const auto& [bytes, measured] : row.at("time_s").items()) {
      const Time time = job.run(CollectiveOp::all_reduce, {std::stoll(bytes)}, "", Fidelity::flow).time;
      errors.push_back(error_of(to_seconds(time), measured));
      INFO(fmt::format("{} ranks, {} bytes: {:.3f} ms predicted, {:.3f} ms measured", placement.size(), bytes,
                       to_seconds(time) * 1e3, measured.get<double>() * 1e3));
      CHECK(errors.back() < 0.25);
    }
  }
  CHECK(median(errors) < 0.06);
}

}  // namespace testbed_rows

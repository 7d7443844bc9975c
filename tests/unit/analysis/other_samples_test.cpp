// Host calls, collectives, their tax on compute and whole trainings: what the model says of each, and why of
// some nothing.
#include <cmath>

#include "sim/collective/communicator.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/workload/device/device_constants.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/unit/analysis/sample_list.hpp"

namespace other_samples_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Sample call(const std::string& what, Settings settings = {}) {
  return sample_of(SampleKind::host, what, 0, SampleUnit::us, std::move(settings));
}

Sample tax(const std::string& op, int gpus, std::int64_t bytes) {
  Sample sample = sample_of(SampleKind::tax, "gemm", bytes, SampleUnit::share, {{"op", op}});
  sample.gpus = gpus;
  return sample;
}

double microseconds_of(const OneJob& job, CollectiveOp op, std::int64_t bytes) {
  return to_seconds(job.plan(op, bytes).back_to_back()) * 1e6;
}

ClusterSpec slow_host() {
  ClusterSpec cluster = nvlink_cluster(2, 2);
  cluster.node.host.slowdown = 2;
  return cluster;
}

}  // namespace

TEST_CASE("calls of the host are slower on a slower CPU, waiting for the GPU is not") {
  const HostCalibration calls;
  const double us = 1e6;
  CHECK(predicted(slow_host(), call("enqueue")) == Approx(2 * to_seconds(calls.launch) * us));
  CHECK(predicted(slow_host(), call("event")) == Approx(2 * to_seconds(calls.event) * us));
  CHECK(predicted(slow_host(), call("copy_call")) == Approx(2 * to_seconds(calls.copy_call) * us));
  CHECK_FALSE(predict_samples(slow_host(), {call("copy_call", {{"peer", "0"}})})
                  .front());  // the driver's own way through host memory
  CHECK(predicted(slow_host(), call("launch_latency")) == Approx(to_seconds(calls.launch_latency) * us));
  CHECK(predicted(slow_host(), call("sync_wake")) == Approx(to_seconds(calls.sync_wake) * us));
  const double one = predicted(slow_host(), call("graph_launch", {{"kernels", "1"}}));
  const double hundred = predicted(slow_host(), call("graph_launch", {{"kernels", "101"}}));
  CHECK(hundred - one == Approx(100 * 2 * to_seconds(calls.graph_launch_node) * us));
}

TEST_CASE("kernels of one stream follow each other at the gap and the shortest kernel") {
  const KernelCalibration kernels = kernel_calibration_of(slow_host());
  CHECK(predicted(slow_host(), call("launch_gap")) ==
        Approx(to_seconds(kernels.launch_gap + kernels.minimum) * 1e6));
}

TEST_CASE("measured calls replace the table's") {
  ClusterSpec cluster = slow_host();
  cluster.calibration.constants.push_back({"host.launch", 4e-6, 0, 0, 0, 0, 0});
  CHECK(predicted(cluster, call("enqueue")) == Approx(8));
  CHECK(predicted(cluster, call("event")) == predicted(slow_host(), call("event")));
}

TEST_CASE("one thread of the CPU has its memory bandwidth and its slowdown") {
  const auto cpu = [](const std::string& what, SampleUnit unit, Settings settings = {}) {
    return sample_of(SampleKind::cpu, what, 1 << 30, unit, std::move(settings));
  };
  CHECK(predicted(slow_host(), cpu("memcpy", SampleUnit::gigabytes_per_s)) == Approx(10));
  CHECK(predicted(slow_host(), cpu("memcpy", SampleUnit::gigabytes_per_s, {{"threads", "1"}})) == Approx(10));
  CHECK(predicted(slow_host(), cpu("memcpy", SampleUnit::gigabytes_per_s, {{"threads", "8"}})) == -1);
  CHECK(predicted(slow_host(), cpu("python_loop", SampleUnit::us)) ==
        Approx(2 * predicted(nvlink_cluster(2, 2), cpu("python_loop", SampleUnit::us))));
  CHECK_THAT(why_not_predicted(slow_host(), cpu("decode", SampleUnit::us)), ContainsSubstring("decode"));
  CHECK_THAT(why_not_predicted(slow_host(), call("dancing")), ContainsSubstring("dancing"));
}

TEST_CASE("a collective takes what its communicator plans, back to back") {
  const ClusterSpec cluster = nvlink_cluster(2, 2);
  const OneJob job(cluster, 8);
  for (const CollectiveOp op : kCollectiveOps) {
    INFO(name_of(op));
    CHECK(predicted(cluster, collective_sample(std::string(name_of(op)), 8, 2, 1 << 20)) ==
          Approx(microseconds_of(job, op, 1 << 20)));
  }
}

TEST_CASE(
    "nccl-tests on one node are one process that launches on all its GPUs, unless the log says otherwise") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  CollectiveSettings one_process;
  one_process.processes_per_node = 1;
  const OneJob together(cluster, 4, one_process), apart(cluster, 4);
  CHECK(predicted(cluster, collective_sample("all_reduce", 4, 1, 8)) ==
        Approx(microseconds_of(together, CollectiveOp::all_reduce, 8)));
  CHECK(predicted(cluster, collective_sample("all_reduce", 4, 1, 8, {{"launch.processes_per_node", "4"}})) ==
        Approx(microseconds_of(apart, CollectiveOp::all_reduce, 8)));
}

TEST_CASE("settings of NCCL in a sample are those of its communicator, other settings are not asked for") {
  const ClusterSpec cluster = nvlink_cluster(2, 2);
  const OneJob tree(cluster, 8, forced(nccl::Algorithm::tree, Protocol::simple));
  CHECK(predicted(cluster, collective_sample("all_reduce", 8, 2, 1 << 24,
                                             {{"nccl.algorithm", "tree"},
                                              {"nccl.protocol", "simple"},
                                              {"redop", "sum"},
                                              {"series", "x"}})) ==
        Approx(microseconds_of(tree, CollectiveOp::all_reduce, 1 << 24)));
}

TEST_CASE("of collectives that cannot be the reason is said, and the others are predicted all the same") {
  const ClusterSpec cluster = nvlink_cluster(2, 2);
  CHECK_THAT(why_not_predicted(cluster, collective_sample("all_reduce", 9, 2, 8)), ContainsSubstring("GPUs"));
  CHECK_THAT(why_not_predicted(cluster, collective_sample("all_dance", 8, 2, 8)),
             ContainsSubstring("all_dance"));
  CHECK_THAT(why_not_predicted(cluster, collective_sample("all_reduce", 8, 2, 0)),
             ContainsSubstring("nothing is sent"));
  CHECK_THAT(
      why_not_predicted(cluster, collective_sample("all_reduce", 8, 2, 8, {{"nccl.algorithm", "waltz"}})),
      ContainsSubstring("waltz"));
  const SamplePredictions all = predict_samples(
      cluster,
      {collective_sample("all_reduce", 9, 2, 8), collective_sample("all_reduce", 8, 2, 8), call("enqueue")});
  CHECK_FALSE(all[0]);
  CHECK(all[1]);
  CHECK(all[2]);
}

TEST_CASE("a tax measured with fewer channels is less: they are those of its collective") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  const auto with_channels = [&](const char* channels) {
    Sample sample = tax("all_reduce", 4, 1 << 26);
    sample.settings.emplace_back("channels", channels);
    return predicted(cluster, sample);
  };
  CHECK(with_channels("2") < with_channels("4"));
  CHECK(with_channels("4") <= predicted(cluster, tax("all_reduce", 4, 1 << 26)));
}

TEST_CASE("a tax is what the collective takes of the GPU, as time that compute takes longer") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  const CollectivePlan plan = OneJob(cluster, 4).plan(CollectiveOp::all_reduce, 1 << 26);
  const double share = share_of_collective(plan, cluster.node.gpu, 4);
  REQUIRE(share > 0);
  // A GPU that gives `share` of its throughput away needs 1 / (1 - share) of the time.
  CHECK(predicted(cluster, tax("all_reduce", 4, 1 << 26)) == Approx(1 / (1 - share) - 1).epsilon(0.01));
  ClusterSpec calibrated = cluster;
  calibrated.calibration.constants.push_back({"loss.collective_share", 0.5, 0, 0, 0, 0, 0});
  CHECK(predicted(calibrated, tax("all_reduce", 4, 1 << 26)) ==
        Approx(1 / (1 - share / 2) - 1).epsilon(0.01));
  CHECK_THAT(why_not_predicted(cluster, tax("", 4, 1 << 26)), ContainsSubstring("needs op"));
  CHECK_THAT(why_not_predicted(cluster, tax("all_reduce", 1, 1 << 26)), ContainsSubstring("two GPUs"));
  CHECK_THAT(why_not_predicted(cluster, tax("all_reduce", 4, 0)), ContainsSubstring("bytes"));
}

TEST_CASE("a training's rate is its batch over a simulated step") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ClusterSpec cluster = nvlink_cluster(1, 1);
  cluster.name = "puhti";  // names a scenario, whose cluster is then replaced
  const Settings settings{
      {"model", "resnet18"}, {"strategy", "single"}, {"batch", "32"}, {"precision", "fp32"}};
  const double rate =
      predicted(cluster, sample_of(SampleKind::training, "samples_per_s", 0, SampleUnit::per_s, settings));
  const double step_us =
      predicted(cluster, sample_of(SampleKind::training, "step", 0, SampleUnit::us, settings));
  REQUIRE(rate > 0);
  CHECK(rate == Approx(32 / (step_us * 1e-6)));
  cluster.calibration.constants.push_back({"kernel.time_scale", 2, 0, 0, 0, 0, 0});
  const double slower =
      predicted(cluster, sample_of(SampleKind::training, "samples_per_s", 0, SampleUnit::per_s, settings));
  CHECK(slower < 0.7 * rate);
}

TEST_CASE("of trainings that cannot be simulated the reason is said") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ClusterSpec cluster = nvlink_cluster(1, 1);
  cluster.name = "puhti";
  const auto reason = [&](const std::string& what, SampleUnit unit, Settings settings) {
    return why_not_predicted(cluster, sample_of(SampleKind::training, what, 0, unit, std::move(settings)));
  };
  CHECK_THAT(reason("samples_per_s", SampleUnit::per_s, {}), ContainsSubstring("which network"));
  CHECK_THAT(reason("samples_per_s", SampleUnit::us, {{"model", "resnet18"}}),
             ContainsSubstring("samples_per_s or step"));
  CHECK_THAT(reason("samples_per_s", SampleUnit::per_s, {{"model", "resnet1800"}, {"batch", "32"}}),
             ContainsSubstring("resnet1800"));
}

TEST_CASE("a mix of operators is left to the eye") {
  CHECK_THAT(
      why_not_predicted(nvlink_cluster(1, 1), sample_of(SampleKind::mix, "resnet50", 0, SampleUnit::us)),
      ContainsSubstring("mix"));
}

TEST_CASE("numbers among settings are whole, or not there") {
  const Sample sample = sample_of(SampleKind::gemm, "gemm", 0, SampleUnit::us,
                                  {{"m", "12"}, {"n", "12x"}, {"k", ""}, {"count", "-3"}});
  CHECK(number_of(sample, "m", 7) == 12);
  CHECK(number_of(sample, "n", 7) == 7);
  CHECK(number_of(sample, "k", 7) == 7);
  CHECK(number_of(sample, "count", 7) == -3);
  CHECK(number_of(sample, "none", 7) == 7);
}

}  // namespace other_samples_test

// Fits find again the constants of machines that the model made up; what samples do not say, or physics
// forbids, is not fitted.
#include "sim/analysis/fit/calibrate.hpp"

#include <algorithm>

#include "sim/analysis/fit/calibration_stages.hpp"
#include "sim/collective/costs.hpp"
#include "sim/workload/device/device_constants.hpp"
#include "tests/unit/analysis/synthetic_samples.hpp"

namespace calibrate_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr double kNoise = 0.05;

std::vector<Sample> copies(std::int64_t least, std::int64_t most, SampleUnit unit) {
  std::vector<Sample> samples;
  for (std::int64_t bytes = least; bytes <= most; bytes *= 4)
    samples.push_back(sample_of(SampleKind::copy, "h2d", bytes, unit));
  return samples;
}

std::vector<Sample> all_reduces(int gpus, int nodes, std::int64_t least, std::int64_t most) {
  std::vector<Sample> samples;
  for (std::int64_t bytes = least; bytes <= most; bytes *= 4)
    samples.push_back(collective_sample("all_reduce", gpus, nodes, bytes));
  return samples;
}

bool has(const CalibrationFit& fit, const std::string& name) { return fit.calibration.find(name) != nullptr; }

}  // namespace

TEST_CASE("a link's bandwidth and latency are found again from noisy copies") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  const Calibration truth =
      constants({{"link.pcie3_x16.bandwidth", 0.8 * 12.3e9}, {"link.pcie3_x16.latency", 3e-6}});
  const CalibrationFit fit =
      calibrate(cluster, measure(cluster, truth, copies(256, 1 << 30, SampleUnit::us), 12, kNoise));
  check_recovered(fit, "link.pcie3_x16.bandwidth", 0.8 * 12.3e9, 0.03);
  check_recovered(fit, "link.pcie3_x16.latency", 3e-6, 0.05);
  CHECK(fit.refused.empty());
  CHECK(fit.left_out.empty());
}

TEST_CASE("constants that no sample depends on are not in the result") {
  const ClusterSpec cluster = nvlink_cluster(2, 1);
  const Calibration truth = constants({{"link.pcie3_x16.bandwidth", 11e9}});
  const CalibrationFit fit =
      calibrate(cluster, measure(cluster, truth, copies(256, 1 << 30, SampleUnit::us), 4, kNoise));
  CHECK(has(fit, "link.pcie3_x16.bandwidth"));
  for (const char* name :
       {"link.nvlink2.bandwidth", "link.ib_hdr100.bandwidth", "link.upi.bandwidth", "gpu.staging_share",
        "gpu.memory_efficiency", "nccl.kernel", "gemm.half", "host.launch"})
    CHECK_FALSE(has(fit, name));
  CHECK(fit.calibration.constants.size() == fit.defaults.size());
}

TEST_CASE("the share of the tensor cores' peak is found again from noisy products") {
  const ClusterSpec cluster = plain_node(1, a100());
  const double half = kernel_calibration_of(cluster).gemm.half;
  std::vector<Sample> products;
  for (const int size : {1024, 2048, 3072, 4096, 6144, 8192, 12288}) {
    const std::string n = std::to_string(size);
    products.push_back(sample_of(SampleKind::gemm, "gemm", 0, SampleUnit::us,
                                 {{"m", n}, {"n", n}, {"k", n}, {"precision", "bf16"}}));
  }
  const CalibrationFit fit =
      calibrate(cluster, measure(cluster, constants({{"gemm.half", 0.75 * half}}), products, 12, kNoise));
  check_recovered(fit, "gemm.half", 0.75 * half, 0.05);
  CHECK_FALSE(has(fit, "gemm.tf32"));
  CHECK_FALSE(has(fit, "conv.half"));
}

TEST_CASE("the streaming rate of a GPU is found again from copies inside it") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  std::vector<Sample> asked{sample_of(SampleKind::copy, "d2d", 1 << 30, SampleUnit::gigabytes_per_s)};
  for (std::int64_t bytes = 1 << 26; bytes <= 1 << 30; bytes *= 4)
    asked.push_back(sample_of(SampleKind::memory, "copy", bytes, SampleUnit::us));
  const CalibrationFit fit =
      calibrate(cluster, measure(cluster, constants({{"gpu.memory_efficiency", 0.9}}), asked, 12, kNoise));
  check_recovered(fit, "gpu.memory_efficiency", 0.9, 0.03);
}

TEST_CASE("calls of the host are found again, each from its own samples") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  std::vector<Sample> asked;
  for (const char* what : {"enqueue", "launch_latency", "event"})
    asked.push_back(sample_of(SampleKind::host, what, 0, SampleUnit::us));
  const Calibration truth = constants({{"host.launch", 4e-6}, {"host.launch_latency", 6e-6}});
  const CalibrationFit fit = calibrate(cluster, measure(cluster, truth, asked, 25, kNoise));
  check_recovered(fit, "host.launch", 4e-6, 0.04);
  check_recovered(fit, "host.launch_latency", 6e-6, 0.04);
  CHECK_FALSE(has(fit, "host.sync_wake"));
}

TEST_CASE("factors of kernels and of the host's calls are found again from steps that wait for either") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ClusterSpec cluster = nvlink_cluster(1, 1);
  cluster.name = "puhti";
  std::vector<Sample> steps;
  for (const auto& [model, batch] : {std::pair{"mnist_net", "64"}, std::pair{"mnist_net", "32"},
                                     std::pair{"resnet50", "64"}, std::pair{"vgg16", "32"}}) {
    const Settings settings{
        {"model", model}, {"strategy", "single"}, {"batch", batch}, {"precision", "fp32"}};
    steps.push_back(sample_of(SampleKind::training, "step", 0, SampleUnit::us, settings));
  }
  const Calibration truth = constants({{"kernel.time_scale", 1.2}, {"host.time_scale", 1.7}});
  const CalibrationFit fit = calibrate(cluster, measure(cluster, truth, steps, 4, kNoise));
  check_recovered(fit, "kernel.time_scale", 1.2, 0.05);
  check_recovered(fit, "host.time_scale", 1.7, 0.05);
}

TEST_CASE("the start of NCCL's kernels is found again from noisy collectives") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  const double kernel = 3 * to_seconds(costs_of(cluster).kernel);  // longer than a launch, or no row shows it
  std::vector<Sample> asked = all_reduces(4, 1, 1 << 20, 1 << 28);
  for (int i = 0; i < 8; ++i)
    asked.push_back(collective_sample("all_reduce", 1, 1, 8 << i));  // one GPU copies: the kernel alone
  const CalibrationFit fit =
      calibrate(cluster, measure(cluster, constants({{"nccl.kernel", kernel}}), asked, 10, kNoise));
  check_recovered(fit, "nccl.kernel", kernel, 0.05);
}

TEST_CASE("what a network reaches in collectives is found again from large ones") {
  const ClusterSpec cluster = star_cluster(4, {12.3e9});
  const CalibrationFit fit =
      calibrate(cluster, measure(cluster, constants({{"link.ib_hdr100.collective_efficiency", 0.7}}),
                                 all_reduces(4, 4, 1 << 24, 1 << 30), 12, kNoise));
  check_recovered(fit, "link.ib_hdr100.collective_efficiency", 0.7, 0.05);
}

TEST_CASE("a link that would be faster than its wire is refused, and keeps its default") {
  ClusterSpec cluster = nvlink_cluster(1, 1);
  for (NodeLink& link : cluster.node.links) {
    if (link.type.name == "pcie3_x16") link.type.line_rate = {15.75e9};
  }
  const CalibrationFit fit =
      calibrate(cluster, measure(cluster, constants({{"link.pcie3_x16.bandwidth", 18e9}}),
                                 copies(1 << 26, 1 << 30, SampleUnit::gigabytes_per_s), 5, 0.01));
  CHECK_FALSE(has(fit, "link.pcie3_x16.bandwidth"));
  REQUIRE(fit.refused.size() == 1);
  CHECK_THAT(fit.refused[0], ContainsSubstring("link.pcie3_x16.bandwidth"));
  CHECK_THAT(fit.refused[0], ContainsSubstring("more than 15.75 GBps"));
}

TEST_CASE("samples that cannot be, or that nobody can predict, are left out with their line and the reason") {
  const ClusterSpec cluster = star_cluster(2, {12.3e9});
  std::vector<Sample> samples = measure(cluster, {}, all_reduces(2, 2, 1 << 20, 1 << 28), 1, 0);
  const auto add = [&](Sample sample, double value, int line) {
    sample.value = value, sample.source = "my.log", sample.line = line;
    samples.push_back(sample);
  };
  add(sample_of(SampleKind::network, "write", 1 << 23, SampleUnit::gigabytes_per_s), 40,
      7);  // the wire carries 1.3 x 12.3 at most
  add(sample_of(SampleKind::copy, "h2d", 1 << 30, SampleUnit::gigabytes_per_s), 1e6,
      8);                                                 // above the GPU's memory
  add(collective_sample("all_reduce", 2, 2, 8), 0.1, 9);  // less than a launch
  add(collective_sample("all_dance", 2, 2, 8), 50, 10);
  add(collective_sample("all_reduce", 64, 16, 8), 50, 11);
  const CalibrationFit fit = calibrate(cluster, samples);
  REQUIRE(fit.left_out.size() == 5);
  for (int i = 0; i < 5; ++i) {
    CHECK(fit.left_out[static_cast<std::size_t>(i)].source == "my.log");
    CHECK(fit.left_out[static_cast<std::size_t>(i)].line == 7 + i);
  }
  CHECK_THAT(fit.left_out[0].why, ContainsSubstring("above the wire"));
  CHECK_THAT(fit.left_out[1].why, ContainsSubstring("above the GPU's memory"));
  CHECK_THAT(fit.left_out[2].why, ContainsSubstring("launch"));
  CHECK_THAT(fit.left_out[3].why, ContainsSubstring("all_dance"));
  CHECK_FALSE(fit.left_out[4].why.empty());
  CHECK(fit.residuals.size() == samples.size() - 5);
}

TEST_CASE("nothing but nonsense fits nothing") {
  Sample sample = collective_sample("all_dance", 2, 2, 8);
  sample.line = 3;
  const CalibrationFit fit = calibrate(star_cluster(2, {12.3e9}), {sample});
  CHECK(fit.calibration.empty());
  CHECK(fit.residuals.empty());
  CHECK(fit.left_out.size() == 1);
  CHECK(calibrate(star_cluster(2, {12.3e9}), {}).calibration.empty());
}

TEST_CASE("a tax of nothing, or less, is noise and no sample") {
  std::vector<Sample> samples;
  for (const double value : {0.1, 0.0, -0.02}) {
    samples.push_back(sample_of(SampleKind::tax, "gemm", 1 << 26, SampleUnit::share, {{"op", "all_reduce"}}));
    samples.back().gpus = 4, samples.back().value = value;
  }
  const CalibrationFit fit = calibrate(nvlink_cluster(1, 1), samples);
  CHECK(fit.left_out.size() == 2);
  CHECK(fit.residuals.size() == 1);  // only positive ones can be compared, written and drawn
}

TEST_CASE("in-place collectives are a second measurement of the same: they are not fitted") {
  const ClusterSpec cluster = star_cluster(2, {12.3e9});
  const std::vector<Sample> out_of_place =
      measure(cluster, constants({{"nccl.kernel", 20e-6}}), all_reduces(2, 2, 1 << 10, 1 << 28), 1, 0);
  std::vector<Sample> both = out_of_place;
  for (Sample sample : out_of_place) {
    sample.settings.emplace_back("in_place", "1"), sample.value *= 10;
    both.push_back(sample);
  }
  const CalibrationFit one = calibrate(cluster, out_of_place), two = calibrate(cluster, both);
  CHECK(one.calibration == two.calibration);
  CHECK(one.residuals == two.residuals);
  CHECK(two.left_out.empty());
}

TEST_CASE(
    "collectives that were measured in place alone, as foretrain-bench's all-reduce, are fitted and kept as "
    "measured") {
  const ClusterSpec cluster = star_cluster(2, {12.3e9});
  std::vector<Sample> samples =
      measure(cluster, constants({{"nccl.kernel", 20e-6}}), all_reduces(2, 2, 1 << 10, 1 << 28), 1, 0);
  for (Sample& sample : samples)  // a hump that no constant explains
    if (sample.bytes > 1 << 15 && sample.bytes < 1 << 22) sample.value *= 1.6;
  const CalibrationFit apart = calibrate(cluster, samples);
  for (Sample& sample : samples) sample.settings.emplace_back("in_place", "1");
  const CalibrationFit fit = calibrate(cluster, samples);
  CHECK(fit.calibration.constants == apart.calibration.constants);
  CHECK(fit.calibration.collectives == apart.calibration.collectives);
  CHECK_FALSE(fit.calibration.collectives.empty());
}

TEST_CASE("a collective of three sizes is kept as measured, one of two sizes is not") {
  const ClusterSpec cluster = star_cluster(4, {12.3e9});
  std::vector<Sample> samples = measure(cluster, {}, all_reduces(4, 4, 1 << 20, 1 << 24), 1, 0);
  const auto two = measure(cluster, {}, all_reduces(2, 2, 1 << 20, 1 << 22), 1, 0);
  samples.insert(samples.end(), two.begin(), two.end());
  const CalibrationFit fit = calibrate(cluster, samples);
  REQUIRE(fit.calibration.collectives.size() == 1);
  CHECK(fit.calibration.collectives[0].gpus == 4);
  CHECK(std::ranges::count(fit.residuals, 0, &CalibrationFit::Residual::collective) == 3);
  CHECK(std::ranges::count(fit.residuals, -1, &CalibrationFit::Residual::collective) == 2);
}

TEST_CASE("a measured collective is back at its measured times") {
  const ClusterSpec cluster = star_cluster(4, {12.3e9});
  std::vector<Sample> samples = all_reduces(4, 4, 1 << 10, 1 << 26);
  for (Sample& sample : samples)
    sample.value = 90 + static_cast<double>(sample.bytes) / 3e3;  // 90 us + bytes over 3 GB/s
  for (const CalibrationFit::Residual& residual : calibrate(cluster, samples).residuals) {
    INFO(residual.bytes);
    CHECK(residual.fitted == Approx(residual.measured).epsilon(0.01));
  }
}

TEST_CASE("every sample belongs to one stage at most, and stages come in the order of what they rest on") {
  std::vector<std::string_view> names;
  for (const CalibrationStage& stage : calibration_stages()) names.push_back(stage.name);
  CHECK(names == std::vector<std::string_view>{"host", "links", "memory", "calls", "matrix products",
                                               "collectives", "tax", "training"});
  for (std::size_t kind = 0; kind < kSampleKinds; ++kind) {
    for (const char* what : {"h2d", "d2d", "write", "gemm"}) {
      const Sample sample = sample_of(static_cast<SampleKind>(kind), what, 8, SampleUnit::us);
      CHECK(std::ranges::count_if(calibration_stages(),
                                  [&](const CalibrationStage& stage) { return stage.takes(sample); }) <= 1);
    }
  }
}

TEST_CASE("a training on more GPUs than its nodes have is left out with the reason") {
  const ClusterSpec cluster = nvlink_cluster(2, 1);
  Sample training =
      sample_of(SampleKind::training, "samples_per_s", 0, SampleUnit::per_s, {{"model", "mnist_net"}});
  training.gpus = 8, training.nodes = 1, training.line = 7;
  const CalibrationFit fit = calibrate(cluster, {training});
  REQUIRE(fit.left_out.size() == 1);
  CHECK(fit.left_out[0].line == 7);
  CHECK_THAT(fit.left_out[0].why, ContainsSubstring("8 GPUs do not fit on 1 node"));
}

TEST_CASE("a fit searches NCCL's channels once for each set of GPUs, however often it predicts") {
  const ClusterSpec cluster = nvlink_cluster(3, 1);
  const std::vector<Sample> samples =
      measure(cluster, {}, all_reduces(10, 3, 1 << 10, 1 << 24), 2, kNoise);  // 4, 3 and 3 GPUs
  SampleContext context;
  fit_constants(cluster, samples, calibration_stages()[5].constants(cluster), context);
  CHECK(context.searched.searches() == 2);
}

TEST_CASE("samples are described by their kind, and jobs by their size") {
  CHECK(describe(collective_sample("all_reduce", 8, 1, 8)) == "collective all_reduce, 8 GPUs on 1 node");
  CHECK(describe(collective_sample("all_reduce", 1, 1, 8)) == "collective all_reduce, 1 GPU on 1 node");
  CHECK(describe(sample_of(SampleKind::copy, "h2d", 8, SampleUnit::us)) == "copy h2d");
}

}  // namespace calibrate_test

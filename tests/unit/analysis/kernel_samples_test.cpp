// A benchmarked product or convolution takes what the same layer of a network takes.
#include <tuple>

#include "sim/workload/device/device_constants.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"
#include "tests/unit/analysis/sample_list.hpp"

namespace kernel_samples_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr double kGiB = 1 << 30;

Sample gemm(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& precision) {
  return sample_of(SampleKind::gemm, "gemm", 0, SampleUnit::us,
                   {{"m", std::to_string(m)},
                    {"n", std::to_string(n)},
                    {"k", std::to_string(k)},
                    {"precision", precision}});
}

struct Convolution {
  std::int64_t channels, filters, size, kernel, stride, batch;
};

Sample conv_sample(const std::string& what, const Convolution& c, const std::string& precision) {
  return sample_of(SampleKind::conv, what, 0, SampleUnit::us,
                   {{"batch", std::to_string(c.batch)},
                    {"channels", std::to_string(c.channels)},
                    {"filters", std::to_string(c.filters)},
                    {"size", std::to_string(c.size)},
                    {"kernel", std::to_string(c.kernel)},
                    {"stride", std::to_string(c.stride)},
                    {"precision", precision}});
}

/// A network of a convolution before, so that the gradient of the input is needed, and the one in question.
ExpandedModel network_of(const Convolution& c) {
  Model model{"small", "", {c.channels, c.size, c.size}, false, {}};
  model.layers = {conv(c.channels, 1, 1, 0, false), conv(c.filters, c.kernel, c.stride, c.kernel / 2, false),
                  plain("flatten"), plain("loss")};
  return expand(model).model;
}

double microseconds_of(const Operator& op, const ClusterSpec& cluster, Precision precision,
                       std::int64_t batch) {
  const KernelCalibration kernels = kernel_calibration_of(cluster);
  KernelContext context{cluster.node.gpu, kernels, precision};
  context.half_weights = true, context.framework.layout = ImageLayout::channels_last;
  return to_seconds(kernel_time(op, context, batch)) * 1e6;
}

}  // namespace

TEST_CASE("a kernel that only moves bytes takes them over the streaming rate") {
  // 900 GB/s x 0.8; what starts and ends a kernel, and what the cache keeps, is the same for both sizes.
  const ClusterSpec cluster = star_cluster(1, {12.3e9});
  const auto took = [&](std::int64_t bytes) {
    return predicted(cluster, sample_of(SampleKind::memory, "copy", bytes, SampleUnit::us));
  };
  CHECK(took(1LL << 31) - took(1LL << 30) == Approx(kGiB / 720e9 * 1e6));
  CHECK_THAT(why_not_predicted(cluster, sample_of(SampleKind::memory, "copy", 0, SampleUnit::us)),
             ContainsSubstring("no bytes"));
  CHECK_THAT(
      why_not_predicted(cluster, sample_of(SampleKind::memory, "copy", 8, SampleUnit::gigabytes_per_s)),
      ContainsSubstring("in us"));
}

TEST_CASE("a product takes what a linear layer of its size takes") {
  const ClusterSpec cluster = plain_node(1, a100());
  for (const auto& [name, precision] :
       {std::pair("fp16", Precision::amp_fp16), std::pair("bf16", Precision::bf16),
        std::pair("tf32", Precision::tf32), std::pair("fp32", Precision::fp32)}) {
    for (const auto& [m, n, k] :
         {std::tuple(8192, 4096, 4096), std::tuple(64, 1000, 2048), std::tuple(16, 16, 16)}) {
      Model model{"small", "", {k}, false, {linear(n, false), plain("loss")}};
      const ExpandedModel network = expand(model).model;
      INFO(name << " " << m << " x " << n << " x " << k);
      CHECK(predicted(cluster, gemm(m, n, k, name)) ==
            Approx(microseconds_of(network.forward[0], cluster, precision, m)).epsilon(1e-6));
    }
  }
}

TEST_CASE("a convolution and its two gradients take what the same layer of a network takes") {
  const ClusterSpec cluster = plain_node(1, a100());
  for (const Convolution& c : {Convolution{64, 128, 56, 3, 1, 32}, Convolution{128, 256, 28, 3, 2, 16},
                               Convolution{256, 64, 56, 1, 1, 8}, Convolution{32, 64, 224, 7, 2, 4}}) {
    const ExpandedModel network = network_of(c);
    for (const auto& [name, precision] :
         {std::pair("bf16", Precision::bf16), std::pair("tf32", Precision::tf32)}) {
      INFO(name << ", kernel " << c.kernel << ", stride " << c.stride << ", " << c.channels << " to "
                << c.filters);
      const double forward = microseconds_of(network.forward[1], cluster, precision, c.batch);
      CHECK(predicted(cluster, conv_sample("forward", c, name)) == Approx(forward).epsilon(1e-6));
      // One operator of two kernels: the gradient of the input, and of the weights.
      const auto backward = std::ranges::find_if(
          network.backward, [](const BackwardStep& s) { return s.op.product_count == 2; });
      REQUIRE(backward != network.backward.end());
      const double gradients = predicted(cluster, conv_sample("data", c, name)) +
                               predicted(cluster, conv_sample("weights", c, name));
      CHECK(gradients == Approx(microseconds_of(backward->op, cluster, precision, c.batch)).epsilon(1e-6));
    }
  }
}

TEST_CASE("a 16-bit convolution in channels-first layout pays for its transposes") {
  const ClusterSpec cluster = plain_node(1, a100());
  Sample sample = conv_sample("forward", {64, 128, 56, 3, 1, 32}, "fp16");
  const double last = predicted(cluster, sample);
  sample.settings.emplace_back("layout", "nchw");
  CHECK(predicted(cluster, sample) > last);
}

TEST_CASE("a convolution with as many groups as channels is a depthwise one") {
  const ClusterSpec cluster = plain_node(1, a100());
  Sample sample = conv_sample("forward", {128, 128, 56, 3, 1, 32}, "bf16");
  sample.settings.emplace_back("groups", "128");
  ClusterSpec slow = cluster;
  slow.calibration.constants.push_back(
      {"conv.depthwise", 0.5 * kernel_calibration_of(cluster).depthwise_conv, 0, 0, 0, 0, 0});
  CHECK(predicted(slow, sample) > 1.5 * predicted(cluster, sample));
}

TEST_CASE("an fp32 convolution on a GPU that convolves in TF32 says nothing of trainings") {
  const Sample sample = conv_sample("forward", {64, 128, 56, 3, 1, 32}, "fp32");
  CHECK_THAT(why_not_predicted(plain_node(1, a100()), sample), ContainsSubstring("TF32"));
  CHECK(predicted(plain_node(1, v100()), sample) > 0);
  CHECK(predicted(plain_node(1, a100()), gemm(512, 512, 512, "fp32")) >
        0);  // PyTorch multiplies matrices in fp32
}

TEST_CASE("of kernels that the model does not know the reason is said") {
  const ClusterSpec cluster = plain_node(1, a100());
  CHECK_THAT(why_not_predicted(cluster, gemm(512, 512, 512, "fp64")), ContainsSubstring("precision"));
  CHECK_THAT(why_not_predicted(cluster, gemm(512, 512, 512, "")), ContainsSubstring("precision"));
  CHECK_THAT(why_not_predicted(cluster, gemm(0, 512, 512, "fp16")), ContainsSubstring("incomplete"));
  CHECK_THAT(why_not_predicted(cluster, conv_sample("sideways", {64, 64, 56, 3, 1, 32}, "fp16")),
             ContainsSubstring("incomplete"));
  CHECK_THAT(why_not_predicted(cluster, conv_sample("forward", {64, 64, 56, 3, 0, 32}, "fp16")),
             ContainsSubstring("incomplete"));
  for (const std::int64_t batch : {0, -32})
    CHECK_THAT(why_not_predicted(cluster, conv_sample("forward", {64, 64, 56, 3, 1, batch}, "fp16")),
               ContainsSubstring("incomplete"));
  Sample rate = gemm(512, 512, 512, "fp16");
  rate.unit = SampleUnit::teraflops;
  CHECK_THAT(why_not_predicted(cluster, rate), ContainsSubstring("in us"));
}

TEST_CASE("measured constants of kernels change the samples that depend on them") {
  ClusterSpec cluster = plain_node(1, a100());
  const Sample large = gemm(8192, 8192, 8192, "bf16");
  const double before = predicted(cluster, large), half = kernel_calibration_of(cluster).gemm.half;
  cluster.calibration.constants.push_back({"gemm.half", half / 2, 0, 0, 0, 0, 0});
  CHECK(kernel_calibration_of(cluster).gemm.half == half / 2);
  CHECK(predicted(cluster, large) == Approx(2 * before).epsilon(0.05));  // all but the start of the kernel
  CHECK(predicted(cluster, gemm(8192, 8192, 8192, "tf32")) ==
        predicted(plain_node(1, a100()), gemm(8192, 8192, 8192, "tf32")));
}

}  // namespace kernel_samples_test

// Tests of which points are measured: on no GPU, one, eight, by ranks of a job, and under forced NCCL
// variables.
#include <algorithm>
#include <map>
#include <set>

#include "calibrate/micro/plan/family.hpp"
#include "calibrate/micro/plan/nccl_environment.hpp"
#include "calibrate/micro/plan/plans.hpp"
#include "calibrate/micro/plan/shapes.hpp"
#include "calibrate/micro/plan/toolkit.hpp"
#include "tests/support/catch.hpp"

namespace bench_plan_test {

using namespace foretrain;
using namespace foretrain::micro;

namespace {

Machine machine_of(int gpus, int major = 8) {
  Machine machine;
  for (int i = 0; i < gpus; ++i) machine.gpus.push_back({"a GPU", std::int64_t{40} << 30, 108, major, 0});
  machine.has_cublas = machine.has_cudnn = machine.has_nccl = gpus > 0;
  machine.has_python = true;
  machine.cpus = 6;
  return machine;
}

std::set<std::string> keys_of(const std::vector<Point>& points) {
  std::set<std::string> keys;
  for (const Point& point : points) keys.insert(key_of(point.sample));
  return keys;
}

bool any_has(const std::vector<Point>& points, std::string_view key, std::string_view value) {
  return std::any_of(points.begin(), points.end(),
                     [&](const Point& point) { return setting_of(point.sample, key) == value; });
}

}  // namespace

TEST_CASE("a ladder measures its ends first, then halves") {
  const std::vector<Rung> expected{{1, 0}, {2, 2}, {4, 1}, {8, 2}, {16, 0}};
  CHECK(ladder(1, 16, 2) == expected);
  CHECK(ladder(5, 5, 2) == std::vector<Rung>{{5, 0}});
  CHECK(ladder(5, 4, 2).empty());
}

TEST_CASE("no family plans a point twice, and each begins with its lowest rank") {
  for (const int gpus : {1, 2, 3, 8, 16}) {
    for (const Family& family : families()) {
      if (!missing_for(family, machine_of(gpus)).empty()) continue;
      const std::vector<Point> points = family.plan(machine_of(gpus));
      INFO(family.name() << " on " << gpus);
      CHECK(!points.empty());
      CHECK(keys_of(points).size() == points.size());
      CHECK(std::is_sorted(points.begin(), points.end(),
                           [](const Point& a, const Point& b) { return a.rank < b.rank; }));
      for (const Point& point : points) CHECK(point.sample.kind == family.kind);
    }
  }
}

TEST_CASE("every convolution says its layout, and those in 16 bits are measured in both") {
  std::map<std::string, int> layouts;
  for (const Point& point : plan_conv(machine_of(1)))
    ++layouts[std::string(setting_of(point.sample, "precision")) + " " +
              std::string(setting_of(point.sample, "layout"))];
  CHECK(layouts == std::map<std::string, int>{{"bf16 nchw", 69},
                                              {"bf16 nhwc", 69},
                                              {"fp16 nchw", 69},
                                              {"fp16 nhwc", 69},
                                              {"fp32 nchw", 69},
                                              {"tf32 nchw", 69}});
}

TEST_CASE("what a machine does not have is named") {
  CHECK(missing_for(*find_family("gemm"), machine_of(0)) == "a GPU and cuBLAS");
  CHECK(missing_for(*find_family("tax"), machine_of(1)) == "two GPUs");
  CHECK(missing_for(*find_family("collective"), machine_of(1)) == "two GPUs");
  CHECK(missing_for(*find_family("cpu"), machine_of(0)).empty());
  CHECK(find_family("gemn") == nullptr);
}

TEST_CASE("of several ranks only collectives are measured, all GPUs of the job in one group") {
  Machine machine = machine_of(4);
  machine.ranks = 8;
  machine.nodes = 2;
  CHECK(missing_for(*find_family("collective"), machine).empty());
  CHECK_THAT(missing_for(*find_family("copy"), machine), ContainsSubstring("several ranks"));
  for (const Point& point : plan_collective(machine)) {
    CHECK(point.sample.gpus == 8);
    CHECK(point.sample.nodes == 2);
    CHECK(point.environment.empty());
  }
}

TEST_CASE("precisions a GPU does not have are not planned") {
  CHECK(any_has(plan_gemm(machine_of(1, 8)), "precision", "tf32"));
  CHECK_FALSE(any_has(plan_gemm(machine_of(1, 7)), "precision", "tf32"));
  CHECK_FALSE(any_has(plan_conv(machine_of(1, 7)), "precision", "bf16"));
  CHECK(any_has(plan_gemm(machine_of(1, 7)), "precision", "fp16"));
}

TEST_CASE("messages that fall into parts are whole numbers of floats for each rank") {
  for (const Point& point : plan_collective(machine_of(3))) {
    const bool is_split = point.sample.what == "all_gather" || point.sample.what == "reduce_scatter" ||
                          point.sample.what == "alltoall";
    CHECK(point.sample.bytes > 0);
    CHECK(point.sample.bytes % (is_split ? 4 * point.sample.gpus : 4) == 0);
  }
}

TEST_CASE("a tax says of which message it is: without, the model has nothing to compare it with") {
  for (const Point& point : plan_tax(machine_of(2))) CHECK(point.sample.bytes == kTaxedMessage);
}

TEST_CASE(
    "forced algorithms belong to child processes, unless this process has its own variables or may have "
    "none") {
  Machine machine = machine_of(8);
  CHECK(any_has(plan_collective(machine), "nccl.algorithm", "tree"));
  CHECK(any_has(plan_tax(machine), "channels", "8"));
  machine.may_spawn = false;
  CHECK_FALSE(any_has(plan_collective(machine), "nccl.algorithm", "tree"));
  machine.environment = {{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "LL128"}};
  for (const Point& point : plan_collective(machine)) {
    CHECK(setting_of(point.sample, "nccl.algorithm") == "ring");
    CHECK(setting_of(point.sample, "nccl.protocol") == "ll128");
    CHECK(point.environment == machine.environment);
  }
}

TEST_CASE("a child with the variables of a forced point plans that very point") {
  const Machine parent = machine_of(4);
  for (const auto& plan : {plan_collective, plan_tax}) {
    for (const Point& point : plan(parent)) {
      if (point.environment.empty()) continue;
      Machine child = parent;
      child.may_spawn = false;
      child.environment = nccl_environment([&](const char* name) -> const char* {
        for (const auto& [key, value] : point.environment) {
          if (key == name) return value.c_str();
        }
        return nullptr;
      });
      CHECK(child.environment.size() == point.environment.size());
      CHECK(keys_of(plan(child)).count(key_of(point.sample)) == 1);
    }
  }
}

TEST_CASE("every pair of GPUs is copied between, on eight and on three") {
  for (const int gpus : {3, 8}) {
    std::set<std::string> pairs;
    for (const Point& point : plan_copy(machine_of(gpus))) {
      if (point.sample.what == "p2p")
        pairs.insert(std::string(setting_of(point.sample, "src")) + ">" +
                     std::string(setting_of(point.sample, "dst")));
    }
    CHECK(static_cast<int>(pairs.size()) == gpus * (gpus - 1));
  }
  CHECK_FALSE(any_has(plan_copy(machine_of(1)), "dst", "1"));
}

TEST_CASE("ResNet-50 has 53 convolutions and 4.09 G multiply-adds in them") {
  int layers = 0;
  double macs = 0;
  for (const RepeatedConv& conv : resnet50_convolutions(1)) {
    layers += conv.layers;
    macs += conv.layers * conv.shape.flops() / 2;
  }
  CHECK(layers == 53);
  CHECK(macs == Approx(4.087e9).epsilon(0.001));  // 4.089 G with the classifier's 2.05 M
}

TEST_CASE("BERT-base computes 6 FLOPs per parameter and token, and its attention") {
  double flops = 0;
  for (const MixOperator& op : operators_of("bert_base", 8, 4)) {
    if (op.kind == MixOperator::Kind::gemm) flops += op.gemm.flops() * op.times;
  }
  // 12 layers x (4 x 768^2 + 2 x 768 x 3072) weights x 6 x 1024 tokens, and 3 passes x 2 products x 2 x 128^2
  // x 64 x 96 pairs x 12 layers.
  const double weights = 12.0 * (4 * 768 * 768 + 2 * 768 * 3072) * 6 * 1024,
               attention = 3.0 * 2 * 2 * 128 * 128 * 64 * 96 * 12;
  CHECK(flops == Approx(weights + attention));
}

TEST_CASE("shapes are read back from the settings of their points") {
  const std::vector<Point> points = plan_conv(machine_of(1));
  const ConvShape first = resnet50_convolutions(32).front().shape;
  CHECK(conv_shape_of(points.front().sample) == first);
  CHECK(first.output_size() == 112);
  const GemmShape gemm = gemm_shape_of(plan_gemm(machine_of(1)).front().sample);
  CHECK(gemm == GemmShape{128, 128, 128, 1});
}

TEST_CASE("a GPU without kernels is told which toolkit builds for it") {
  CHECK(toolkit_for(7, 0) == "CUDA 11 or 12");
  CHECK(toolkit_for(9, 0) == "CUDA 12 or newer");
  CHECK(toolkit_for(12, 0) == "CUDA 12.8 or newer");
  CHECK(no_kernels_sentence("Tesla V100", 7, 0, 13000) ==
        "this foretrain-bench, built with CUDA 13.0, has no kernels for Tesla V100 (compute capability 7.0); "
        "build it with CUDA 11 or 12 and "
        "-DFORETRAIN_CUDA_ARCHITECTURES=70");
}

}  // namespace bench_plan_test

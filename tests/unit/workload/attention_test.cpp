// Transformers against the closed formulas: FLOPs, kept bytes and parameter counts per block.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace attention_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr double s = 128, h = 768, a = 12, V = 30522;

ExpandedModel bert(int blocks) { return expand(encoder(blocks, 128, 768, 12, 30522)).model; }

}  // namespace

TEST_CASE("a transformer block does 24 s h^2 + 4 s^2 h FLOPs in its products") {
  // Biases: q, k, v, output s h each, perceptron 4 s h + s h.
  const double block = bert(2).forward_gemm_flops().per_sample - bert(1).forward_gemm_flops().per_sample;
  CHECK(block == 24 * s * h * h + 4 * s * s * h + 9 * s * h);
}

TEST_CASE("twelve blocks of BERT-base and its head do the products of the traced network") {
  // Traced BERT-base, s = 128: 28,514,921,474. It also has a dense layer s h before the head (2 s h^2 + s h),
  // a pooler (2 h^2 + h) and a next-sentence head (4 h + 2), which are not here.
  const double traced = 28'514'921'474.0;
  const double elsewhere = 2 * s * h * h + s * h + 2 * h * h + h + 4 * h + 2;
  CHECK(bert(12).forward_gemm_flops().per_sample == traced - elsewhere);
}

TEST_CASE("backward doubles the products of a block") {
  const auto gemm_backward = [](const ExpandedModel& model) {
    double sum = 0;
    for (const BackwardStep& step : model.backward) {
      if (step.op.cls == OperatorClass::gemm || step.op.cls == OperatorClass::attention)
        sum += step.op.flops.per_sample;
    }
    return sum;
  };
  CHECK(gemm_backward(bert(2)) - gemm_backward(bert(1)) == 2 * (24 * s * h * h + 4 * s * s * h) + 9 * s * h);
}

TEST_CASE("a block has 12 h^2 + 13 h parameters in 16 tensors") {
  // 4 h^2 + 4 h attention, 8 h^2 + 5 h perceptron, 4 h norms.
  const ExpandedModel one = bert(1), two = bert(2);
  CHECK(static_cast<double>(two.parameter_elements() - one.parameter_elements()) == 12 * h * h + 13 * h);
  CHECK(two.parameters.size() - one.parameters.size() == 16);
  CHECK(one.parameters[1].name == "add1.attention1.query.weight");
}

TEST_CASE("a block keeps 72 s h + 4 a s^2 bytes, and 8 a s^2 less than with dropout on the scores") {
  // Input 4 sh, head-major q, k, v 12 sh, softmax 4 a s^2, context 4 sh, mask 4 sh, norm input 4 sh, norm
  // result 4 sh, perceptron 32 sh, mask 4 sh, norm input 4 sh, statistics of two norms 16 s. The traced block
  // drops scores too: 12 a s^2.
  const double block = bert(2).saved_bytes.per_sample - bert(1).saved_bytes.per_sample;
  CHECK(block == 72 * s * h + 4 * a * s * s + 16 * s);
}

TEST_CASE("values, keys, queries hand over their gradients in this order, each after an accumulation") {
  const ExpandedModel model = expand(encoder(1, 16, 8, 2, 10)).model;
  // 0 table, 1..8 q k v o (weight, bias), 9, 10 norm, 11..14 perceptron, 15, 16 norm, 17, 18 head.
  CHECK(model.gradient_ready_order() ==
        std::vector<std::uint32_t>{18, 17, 15, 16, 14, 13, 12, 11, 9, 10, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  int adds = 0;
  for (const BackwardStep& step : model.backward) adds += step.op.call == HostCall::add ? 1 : 0;
  CHECK(adds == 4);  // three in attention's input (residual, v, k, q), one in the perceptron's
}

TEST_CASE("scores count as an activation and run their softmax in 32 bit") {
  const ExpandedModel model = expand(encoder(1, 512, 64, 8, 10)).model;
  CHECK(model.largest_activation_elements == 8 * 512 * 512);
  for (const Operator& op : model.forward) {
    if (op.call == HostCall::softmax || op.call == HostCall::loss || op.call == HostCall::layer_norm)
      CHECK_FALSE(op.half_capable);
    if (op.cls == OperatorClass::gemm || op.cls == OperatorClass::attention) CHECK(op.half_capable);
  }
}

TEST_CASE("an embedding reads rows, and its gradient fills the table") {
  const ExpandedModel model = expand(encoder(1, 128, 768, 12, 30522)).model;
  CHECK(model.forward[0].bytes.fixed == 0);
  CHECK(model.forward[0].bytes.per_sample == 8 * s + 8 * s * h);
  CHECK(model.backward.back().op.flops.fixed == V * h);
  CHECK(model.backward.back().ready == std::vector<std::uint32_t>{0});
}

}  // namespace attention_test

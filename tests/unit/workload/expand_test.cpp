// Expansion on networks small enough to count by hand: order, branches, what is kept, and what does not fit.
#include <limits>

#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace expand_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Model model_of(std::vector<std::int64_t> input, std::vector<Layer> layers, bool tokens = false) {
  layers.push_back(plain("loss"));
  return {"small", "", std::move(input), tokens, std::move(layers)};
}

std::string fault_of(const Model& model) {
  const ExpansionResult result = expand(model);
  REQUIRE(result.faults.size() == 1);
  CHECK_FALSE(result.faults[0].hint.empty());
  return result.faults[0].message;
}

int count_adds(const ExpandedModel& model) {
  int adds = 0;
  for (const BackwardStep& step : model.backward) adds += step.op.call == HostCall::add ? 1 : 0;
  return adds;
}

}  // namespace

TEST_CASE("a convolution counts two FLOPs a multiply-add and one an output element for the bias") {
  // 3 -> 8 channels, 3x3 without padding on 10x10: output 8x8x8 = 512, window 3*9 = 27.
  const ExpandedModel model = expand(model_of({3, 10, 10}, {conv(8, 3, 1, 0, true), plain("flatten")})).model;
  const Operator& forward = model.forward[0];
  CHECK(forward.flops.per_sample == 2 * 512 * 27 + 512);
  CHECK(forward.bytes.fixed == 4 * (8 * 27 + 8));
  CHECK(forward.bytes.per_sample == 4 * (300 + 512));
  // Backward without the input's gradient: weights 2*512*27, bias 512; two kernels.
  const Operator& backward = model.backward.back().op;
  CHECK(backward.flops.per_sample == 2 * 512 * 27 + 512);
  CHECK(backward.kernels == 2);
  CHECK(model.backward.back().ready == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("padding same keeps the size and rounds up under a stride") {
  CHECK(expand(model_of({1, 28, 28}, {conv(4, 5, 1, -1, true), plain("flatten")}))
            .model.forward[0]
            .flops.per_sample == 2.0 * 4 * 28 * 28 * 25 + 4 * 28 * 28);
  // ceil(28 / 3) = 10.
  CHECK(expand(model_of({1, 28, 28}, {conv(4, 5, 3, -1, false), plain("flatten")}))
            .model.forward[0]
            .flops.per_sample == 2.0 * 4 * 10 * 10 * 25);
}

TEST_CASE("dilation widens a kernel's reach") {
  Layer wide = conv(2, 3, 1, 0, false);
  set(wide, "dilation", 2);  // reach 5: 10 -> 6
  CHECK(expand(model_of({1, 10, 10}, {wide, plain("flatten")})).model.forward[0].flops.per_sample ==
        2.0 * 2 * 36 * 9);
}

TEST_CASE("groups divide the window and one group per channel is a depthwise convolution") {
  Layer grouped = conv(8, 3, 1, 1, false);
  set(grouped, "groups", 2);
  ExpandedModel model = expand(model_of({4, 6, 6}, {grouped, plain("flatten")})).model;
  CHECK(model.parameters[0].elements == 8 * 2 * 9);
  CHECK(model.forward[0].cls == OperatorClass::conv);
  set(grouped, "groups", 4);
  model = expand(model_of({4, 6, 6}, {grouped, plain("flatten")})).model;
  CHECK(model.forward[0].cls == OperatorClass::depthwise_conv);
  CHECK(model.forward_gemm_flops().per_sample == 2.0 * 8 * 36 * 9);
}

TEST_CASE("linear hands over its bias before its weight and norms the weight first") {
  const ExpandedModel model = expand(model_of({6}, {linear(5), plain("batch_norm"), linear(3)})).model;
  // Parameters: linear 0 weight, 1 bias; norm 2, 3; linear 4, 5.
  CHECK(model.gradient_ready_order() == std::vector<std::uint32_t>{5, 4, 2, 3, 1, 0});
  CHECK(model.parameters[0].name == "linear1.weight");
  CHECK(model.parameters[5].name == "linear2.bias");
}

TEST_CASE("the input's gradient is computed by every layer but the first") {
  const ExpandedModel model = expand(model_of({6}, {linear(5), linear(3)})).model;
  CHECK(model.backward.back().op.flops.per_sample == 2 * 6 * 5 + 5);    // weights and bias
  CHECK(model.backward[2].op.flops.per_sample == 2 * (2 * 5 * 3) + 3);  // loss takes two steps
  CHECK(model.backward[2].op.kernels == 3);
  CHECK(model.backward.back().op.kernels == 2);
}

TEST_CASE("a tensor that feeds two consumers accumulates its gradient once") {
  const std::vector<Layer> body{linear(6)};
  CHECK(count_adds(expand(model_of({6}, {linear(6), add(body, {})})).model) == 1);
  CHECK(count_adds(expand(model_of({6}, {linear(6), add(body, body)})).model) == 1);
  // x + x: both contributions come from the addition itself.
  CHECK(count_adds(expand(model_of({6}, {linear(6), add({}, {})})).model) == 1);
  // The network's input needs no gradient, so nothing is added there.
  CHECK(count_adds(expand(model_of({6}, {add(body, body)})).model) == 0);
}

TEST_CASE("the accumulation runs before the parameters of the layer that caused it are handed over") {
  const ExpandedModel model = expand(model_of({6}, {linear(6), add({linear(6)}, {})})).model;
  // nll, log-softmax, linear2, add, linear1.
  REQUIRE(model.backward.size() == 5);
  CHECK(model.backward[2].ready.empty());
  CHECK(model.backward[3].op.call == HostCall::add);
  CHECK(model.backward[3].ready == std::vector<std::uint32_t>{3, 2});
}

TEST_CASE("branches run forward in order and backward in reverse") {
  const ExpandedModel model = expand(model_of({6}, {linear(6), add({linear(6)}, {linear(6)})})).model;
  CHECK(model.gradient_ready_order() == std::vector<std::uint32_t>{5, 4, 3, 2, 1, 0});
}

TEST_CASE("three branches take two additions") {
  Layer sum = add({linear(6)}, {linear(6)});
  sum.branches.push_back({});
  const ExpandedModel model = expand(model_of({6}, {linear(6), sum})).model;
  int forward_adds = 0;
  for (const Operator& op : model.forward) forward_adds += op.call == HostCall::add ? 1 : 0;
  CHECK(forward_adds == 2);
  CHECK(count_adds(model) == 2);  // linear1 feeds three consumers
}

TEST_CASE("concat joins images by channels and copies once") {
  Layer join = plain("concat");
  join.branches = {{conv(4, 3, 1, 1, false)}, {conv(2, 1, 1, 0, false)}, {}};
  const ExpandedModel model =
      expand(model_of({3, 8, 8}, {join, conv(1, 1, 1, 0, false), plain("flatten")})).model;
  // 4 + 2 + 3 channels of 64: read and written once.
  CHECK(model.forward[2].bytes.per_sample == 8 * 9 * 64);
  CHECK(model.forward[2].cls == OperatorClass::copy);
  CHECK(model.parameters[2].elements == 9);
}

TEST_CASE("an in-place activation shares its storage with its input") {
  // Kept: input 4*6, the activation 4*6 once, its use by linear2 is the same storage, log-probabilities 4*6
  // and target 8.
  CHECK(expand(model_of({6}, {linear(6), relu(true), linear(6)})).model.saved_bytes.per_sample ==
        24 + 24 + 24 + 8);
  // Out of place nothing changes: relu keeps its result, which linear2 reads too.
  CHECK(expand(model_of({6}, {linear(6), relu(false), linear(6)})).model.saved_bytes.per_sample ==
        24 + 24 + 24 + 8);
  // GELU keeps its input, linear2 keeps GELU's result: one storage more.
  CHECK(expand(model_of({6}, {linear(6), plain("gelu"), linear(6)})).model.saved_bytes.per_sample ==
        24 + 24 + 24 + 24 + 8);
}

TEST_CASE("layers before the first parameter keep nothing and have no backward") {
  const ExpandedModel model = expand(model_of({1, 8, 8}, {max_pool(2), plain("flatten"), linear(3)})).model;
  // Loss (2 steps) and linear; the pool is not there. Kept: linear's input 4*16, log-probabilities 4*3,
  // target 8.
  CHECK(model.backward.size() == 3);
  CHECK(model.saved_bytes.per_sample == 64 + 12 + 8);
}

TEST_CASE("pools count k squared FLOPs an output forward and one an input backward") {
  for (const char* const type : {"max_pool", "avg_pool"}) {
    Layer pool = max_pool(3, 2, 1);
    pool.type = find_layer_type(type);
    const ExpandedModel model =
        expand(model_of({1, 8, 8}, {conv(2, 1, 1, 0, false), pool, plain("flatten")})).model;
    CHECK(model.forward[1].flops.per_sample == 9 * 2 * 16);  // 8 -> (8 + 2 - 3) / 2 + 1 = 4
    CHECK(model.backward[2].op.flops.per_sample == 2 * 64);
  }
}

TEST_CASE("every layer type expands") {
  Layer join = plain("concat");
  join.branches = {{}, {}};
  const std::vector<Layer> image{
      conv(4, 3, 1, 1, true), plain("batch_norm"), plain("gelu"),        plain("tanh"),
      plain("sigmoid"),       plain("softmax"),    adaptive_avg_pool(2), join,
      plain("flatten"),       plain("layer_norm"), plain("dropout"),     linear(7)};
  CHECK(expand(model_of({3, 9, 9}, image)).faults.empty());
  CHECK(expand(model_of({12}, {embedding(50, 8), attention(2), plain("flatten"), linear(2)}, true))
            .faults.empty());
}

TEST_CASE("a layer that does not fit its input is a fault with a hint") {
  CHECK_THAT(fault_of(model_of({1, 4, 4}, {conv(1, 5, 1, 0, true), plain("flatten")})),
             ContainsSubstring("kernel of 5 does not fit"));
  CHECK_THAT(fault_of(model_of({1, 4, 4}, {max_pool(6), plain("flatten")})),
             ContainsSubstring("window of 6"));
  CHECK_THAT(fault_of(model_of({1, 4, 4}, {linear(3)})), ContainsSubstring("linear needs"));
  CHECK_THAT(fault_of(model_of({4}, {conv(1, 1, 1, 0, true)})), ContainsSubstring("needs an image"));
  CHECK_THAT(fault_of(model_of({4}, {embedding(9, 3)})), ContainsSubstring("token ids"));
  CHECK_THAT(fault_of(model_of({4}, {linear(3)}, true)), ContainsSubstring("linear needs"));
  CHECK_THAT(fault_of(model_of({4}, {attention(2)})), ContainsSubstring("attention needs"));
  CHECK_THAT(fault_of(model_of({4}, {embedding(9, 6), attention(4)}, true)),
             ContainsSubstring("4 heads do not divide"));
  CHECK_THAT(fault_of(model_of({4}, {}, true)), ContainsSubstring("loss needs"));
  Layer grouped = conv(4, 1, 1, 0, true);
  set(grouped, "groups", 3);
  CHECK_THAT(fault_of(model_of({4, 4, 4}, {grouped, plain("flatten")})), ContainsSubstring("groups = 3"));
}

TEST_CASE("branches of different shapes are a fault at their layer") {
  Layer sum = add({linear(5)}, {linear(6)});
  sum.span = {12, 3, 4};
  const ExpansionResult result = expand(model_of({4}, {sum}));
  REQUIRE(result.faults.size() == 1);
  CHECK(result.faults[0].span == SourceSpan{12, 3, 4});
  CHECK(result.faults[0].message == "add: branch 1 gives [5], branch 2 gives [6]");
  Layer join = plain("concat");
  join.branches = {{max_pool(2)}, {}};
  CHECK_THAT(fault_of(model_of({1, 4, 4}, {join, plain("flatten")})),
             ContainsSubstring("concat: branch 1 gives [1, 2, 2]"));
}

TEST_CASE("misfits in two branches are both reported") {
  CHECK(expand(model_of({4}, {add({conv(1, 1, 1, 0, true)}, {attention(2)})})).faults.size() == 2);
}

TEST_CASE("numbers out of range are all reported before any shape is looked at") {
  Layer bad = conv(0, -1, -2, -3, true);
  set(bad, "groups", 0);
  CHECK(expand(model_of({1, 4, 4}, {bad, linear(0)})).faults.size() == 6);
}

TEST_CASE("a network needs an input, a loss at its end and none before") {
  CHECK_THAT(fault_of({"m", "", {4}, false, {linear(3)}}), ContainsSubstring("does not end with a loss"));
  CHECK_THAT(fault_of({"m", "", {4}, false, {}}), ContainsSubstring("does not end with a loss"));
  CHECK_THAT(fault_of(model_of({4}, {plain("loss")})), ContainsSubstring("layers follow the loss"));
  CHECK_THAT(fault_of(model_of({}, {linear(3)})), ContainsSubstring("input is no shape"));
  CHECK_THAT(fault_of(model_of({4, 0}, {linear(3)})), ContainsSubstring("input is no shape"));
  CHECK_THAT(fault_of(model_of({1, 2, 3, 4, 5}, {linear(3)})), ContainsSubstring("input is no shape"));
  CHECK_THAT(fault_of(model_of({4}, {add({linear(4), plain("loss")}, {})})),
             ContainsSubstring("loss inside a branch"));
}

TEST_CASE("hostile sizes are faults, not overflows") {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t size : {huge, -huge, std::int64_t{1} << 41}) {
    CHECK_FALSE(expand(model_of({size, size, size}, {plain("flatten")})).faults.empty());
    CHECK_FALSE(expand(model_of({3, 8, 8}, {conv(size, size, size, size, true)})).faults.empty());
    CHECK_FALSE(expand(model_of({3, 8, 8}, {conv(1, 1, 1, size, true), plain("flatten")})).faults.empty());
    CHECK_FALSE(expand(model_of({8}, {linear(size)})).faults.empty());
    CHECK_FALSE(expand(model_of({8}, {embedding(size, size)}, true)).faults.empty());
    CHECK_FALSE(expand(model_of({3, 8, 8}, {adaptive_avg_pool(size)})).faults.empty());
    CHECK_FALSE(expand(model_of({3, 8, 8}, {max_pool(size, size, size)})).faults.empty());
  }
  CHECK_FALSE(expand(model_of({1'000'000'000}, {linear(1'000'000)})).faults.empty());
  CHECK_FALSE(
      expand(model_of({1 << 20}, {embedding(2, 4), attention(4)}, true)).faults.empty());  // 4 * 2^40 scores
}

TEST_CASE("too many layers and too deep a nest are faults") {
  CHECK_THAT(fault_of(model_of({4}, std::vector<Layer>(100'000, relu(true)))),
             ContainsSubstring("more than 100000 layers"));
  CHECK(expand(model_of({4}, std::vector<Layer>(10'000, relu(true)))).faults.empty());
  std::vector<Layer> nest;
  for (int depth = 0; depth < 60; ++depth) nest = {add(nest, {})};
  CHECK_THAT(fault_of(model_of({4}, nest)), ContainsSubstring("nested more than 50 deep"));
}

}  // namespace expand_test

// What layers exchange: bytes of every group of ranks, counted by hand.
#include <string>
#include <vector>

#include "sim/workload/transformer/layer_program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"

namespace transformer_exchanges_test {

using namespace foretrain;

namespace {

struct Sum {
  int count = 0;
  double bytes = 0;
};

Sum sum_of(const std::vector<LayerStep>& steps, ParallelAxis along, Exchange exchange) {
  Sum sum;
  for (const LayerStep& step : steps) {
    if (step.along != along || step.exchange != exchange) continue;
    ++sum.count, sum.bytes += step.bytes;
  }
  return sum;
}

int exchanges_in(const std::vector<LayerStep>& steps) {
  int count = 0;
  for (const LayerStep& step : steps) count += step.kind == LayerStep::Kind::exchange ? 1 : 0;
  return count;
}

LayerSlice slice_of(int tensor, bool sequence_parallel = true) {
  LayerSlice slice;
  slice.sequence = 4096, slice.tensor = tensor, slice.sequence_parallel = sequence_parallel;
  return slice;
}

const LayerKernels& megatron() { return layer_kernels_of(LlmFramework::megatron_te); }

/// 16 bit of all 4096 tokens of width 4096: a message of Llama-3 8B.
constexpr double kMessage = 2.0 * 4096 * 4096;

}  // namespace

TEST_CASE(
    "with sequence parallelism a layer gathers and scatters twice forward, and gathers four times backward") {
  for (const auto overlap : {TensorOverlap::none, TensorOverlap::backward, TensorOverlap::pieces}) {
    for (const LayerKernels& kernels : layer_kernels()) {
      LayerSlice slice = slice_of(8);
      slice.overlap = overlap;
      INFO(kernels.name);
      const LayerProgram program = layer_program(test::llama3_8b_shape(), slice, false, kernels);
      const Sum gathered = sum_of(program.forward, ParallelAxis::tensor, Exchange::all_gather);
      CHECK(gathered.count == 2);
      CHECK(gathered.bytes == 2 * kMessage);
      CHECK(sum_of(program.forward, ParallelAxis::tensor, Exchange::reduce_scatter).bytes == 2 * kMessage);
      CHECK(exchanges_in(program.forward) == 4);
      // Gradients of two row layers, and inputs of two column layers once more where they are not kept.
      const int gathers = kernels.regathers_inputs ? 4 : 2;
      CHECK(sum_of(program.backward, ParallelAxis::tensor, Exchange::all_gather).bytes == gathers * kMessage);
      CHECK(sum_of(program.backward, ParallelAxis::tensor, Exchange::reduce_scatter).bytes == 2 * kMessage);
      CHECK(exchanges_in(program.backward) == gathers + 2);
    }
  }
}

TEST_CASE("without it a layer sums twice each way") {
  const LayerProgram program = layer_program(test::llama3_8b_shape(), slice_of(8, false), false, megatron());
  CHECK(sum_of(program.forward, ParallelAxis::tensor, Exchange::all_reduce).bytes == 2 * kMessage);
  CHECK(sum_of(program.backward, ParallelAxis::tensor, Exchange::all_reduce).bytes == 2 * kMessage);
  CHECK(exchanges_in(program.forward) == 2);
  CHECK(exchanges_in(program.backward) == 2);
}

TEST_CASE("one rank exchanges nothing, nor does a group of one") {
  const LayerProgram program = layer_program(test::llama3_8b_shape(), slice_of(1), false, megatron());
  CHECK(exchanges_in(program.forward) + exchanges_in(program.backward) == 0);
  const LayerProgram experts = layer_program(test::mixtral_8x7b_shape(), slice_of(1), true, megatron());
  CHECK(exchanges_in(experts.forward) + exchanges_in(experts.backward) == 0);
}

TEST_CASE("both ends exchange as a row and a column layer, and three values of fp32 for each token") {
  const LayerProgram head = head_program(test::llama3_8b_shape(), slice_of(8), megatron());
  CHECK(sum_of(head.forward, ParallelAxis::tensor, Exchange::all_gather).bytes == kMessage);
  CHECK(sum_of(head.forward, ParallelAxis::tensor, Exchange::all_reduce).count == 3);
  CHECK(sum_of(head.forward, ParallelAxis::tensor, Exchange::all_reduce).bytes == 3 * 4.0 * 4096);
  CHECK(sum_of(head.backward, ParallelAxis::tensor, Exchange::reduce_scatter).bytes == kMessage);
  CHECK(sum_of(head.backward, ParallelAxis::tensor, Exchange::all_reduce).count == 0);
  const LayerProgram words = embedding_program(test::llama3_8b_shape(), slice_of(8), megatron());
  CHECK(sum_of(words.forward, ParallelAxis::tensor, Exchange::reduce_scatter).bytes == kMessage);
  CHECK(sum_of(words.backward, ParallelAxis::tensor, Exchange::all_gather).bytes == kMessage);
}

TEST_CASE("a ring passes keys and values to all but one, backward with their gradients to all") {
  LayerSlice slice = slice_of(1);
  slice.context = 4;
  const LayerProgram program = layer_program(test::llama3_8b_shape(), slice, false, megatron());
  // Keys and values of 1024 tokens, 8 heads of 128, 16 bit.
  const double part = 2.0 * 2 * 1024 * 8 * 128;
  const Sum forward = sum_of(program.forward, ParallelAxis::context, Exchange::ring_pass);
  CHECK(forward.count == 3);
  CHECK(forward.bytes == 3 * part);
  const Sum backward = sum_of(program.backward, ParallelAxis::context, Exchange::ring_pass);
  CHECK(backward.count == 4);
  CHECK(backward.bytes == 4 * 2 * part);
}

TEST_CASE(
    "gathered keys and values are those of the whole sequence, and Ulysses exchanges what it turns round") {
  LayerSlice slice = slice_of(1);
  slice.context = 4, slice.context_exchange = ContextExchange::all_gather;
  const LayerProgram gathered = layer_program(test::llama3_8b_shape(), slice, false, megatron());
  CHECK(sum_of(gathered.forward, ParallelAxis::context, Exchange::all_gather).bytes ==
        2.0 * 2 * 4096 * 8 * 128);
  CHECK(sum_of(gathered.backward, ParallelAxis::context, Exchange::reduce_scatter).bytes ==
        2.0 * 2 * 4096 * 8 * 128);
  slice.context_exchange = ContextExchange::ulysses;
  const LayerProgram turned = layer_program(test::llama3_8b_shape(), slice, false, megatron());
  // Queries of 32 heads, keys and values of 8, and the result of 32: 80 heads of 128, each way.
  const double both = 2.0 * 1024 * 128 * (32 + 2 * 8 + 32);
  CHECK(sum_of(turned.forward, ParallelAxis::context, Exchange::all_to_all).bytes == both);
  CHECK(sum_of(turned.backward, ParallelAxis::context, Exchange::all_to_all).bytes == both);
}

TEST_CASE("tokens go to their experts and back, each way and once more backward") {
  LayerSlice slice = slice_of(1);
  slice.expert = 32;
  const LayerProgram program = layer_program(test::deepseek_v3_shape(), slice, true, megatron());
  // 4096 tokens x 8 experts x 7168 values of 16 bit: 470 MB, of which 31/32 leave the rank (455 MB).
  const double rows = 4096.0 * 8 * 7168 * 2;
  CHECK(rows * 31 / 32 == Approx(455e6).epsilon(1e-3));
  for (const auto* steps : {&program.forward, &program.backward}) {
    CHECK(sum_of(*steps, ParallelAxis::expert, Exchange::all_to_all).count == 2);
    CHECK(sum_of(*steps, ParallelAxis::expert, Exchange::all_to_all).bytes == 2 * rows);
  }
}

TEST_CASE("DeepEP sends a token once to each node of its experts") {
  LayerSlice slice = slice_of(1);
  slice.expert = 32, slice.dispatch = TokenDispatch::deep_ep;
  const LayerProgram program = layer_program(test::deepseek_v3_shape(), slice, true, megatron());
  // 8 experts on 4 nodes of 8 ranks: 4 (1 - (3/4)^8) = 3.6 nodes for each token.
  const double nodes = 4 * (1 - 0.75 * 0.75 * 0.75 * 0.75 * 0.75 * 0.75 * 0.75 * 0.75);
  CHECK(sum_of(program.forward, ParallelAxis::expert, Exchange::all_to_all).bytes ==
        Approx(2 * 4096.0 * 7168 * 2 * nodes));
  slice.expert = 8;  // within a node every expert has its own copy
  const LayerProgram inside = layer_program(test::deepseek_v3_shape(), slice, true, megatron());
  CHECK(sum_of(inside.forward, ParallelAxis::expert, Exchange::all_to_all).bytes ==
        2 * 4096.0 * 8 * 7168 * 2);
}

TEST_CASE("a dispatch that drops no token makes the host wait, one with a capacity does not") {
  LayerSlice slice = slice_of(1);
  slice.expert = 8;
  const auto waits = [&] {
    int count = 0;
    for (const LayerStep& step : layer_program(test::mixtral_8x7b_shape(), slice, true, megatron()).forward)
      count += step.host_waits ? 1 : 0;
    return count;
  };
  CHECK(waits() == 1);
  slice.capacity_factor = 1.25;
  CHECK(waits() == 0);
}

}  // namespace transformer_exchanges_test

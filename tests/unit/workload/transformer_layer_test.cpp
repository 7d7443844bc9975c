// Layers as lists of kernels: the arithmetic is the network's whatever the ranks, and it is all there.
#include <algorithm>
#include <string>
#include <vector>

#include "sim/workload/transformer/layer_program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"

namespace transformer_layer_test {

using namespace foretrain;

namespace {

LayerSlice slice_of(int tensor, int context = 1) {
  LayerSlice slice;
  slice.sequence = 4096, slice.tensor = tensor, slice.context = context;
  slice.sequence_parallel = tensor > 1;
  return slice;
}

const LayerKernels& megatron() { return layer_kernels_of(LlmFramework::megatron_te); }

/// Forward and backward of all ranks that share a sequence.
double flops_of_ranks(const LayerProgram& program, const LayerSlice& slice) {
  return (flops_of(program.forward) + flops_of(program.backward)) * slice.tensor * slice.context;
}

double flops_of_attention(const std::vector<LayerStep>& steps) {
  double sum = 0;
  for (const LayerStep& step : steps)
    if (step.kind == LayerStep::Kind::attention) sum += flash_attention_flops(step.attention);
  return sum;
}

double weight_gradient_flops(const std::vector<LayerStep>& steps) {
  std::vector<LayerStep> own;
  std::ranges::copy_if(steps, std::back_inserter(own), &LayerStep::is_weight_gradient);
  return flops_of(own);
}

}  // namespace

TEST_CASE("FLOPs of a network's layers and head are those of its matrices and scores") {
  TransformerShape direct = test::deepseek_v3_shape();
  direct.latent->query_rank = 0;  // as in DeepSeek-V2-Lite
  for (const TransformerShape& shape : {test::llama3_8b_shape(), test::gpt_shape(24, 2048, 16, 50257, 4096),
                                        test::mixtral_8x7b_shape(), test::deepseek_v3_shape(), direct}) {
    const LayerSlice slice = slice_of(1);
    const auto forward = [&](bool experts) {
      return flops_of(layer_program(shape, slice, experts, megatron()).forward);
    };
    const int mixed = expert_layers_of(shape);
    double sum =
        flops_of(head_program(shape, slice, megatron()).forward) + mixed * (mixed > 0 ? forward(true) : 0);
    if (mixed < shape.layers) sum += (shape.layers - mixed) * forward(false);
    // The formula counts norms and biases, two FLOPs each; here they are passes over memory.
    INFO(shape.layers << " layers of " << shape.hidden);
    CHECK(sum / 4096 == Approx(forward_flops_per_token(shape, 4096, true)).epsilon(5e-4));
  }
}

TEST_CASE("latent attention's first product gives ranks and rotary part, on the tokens of its rank alone") {
  TransformerShape shape = test::deepseek_v3_shape();
  LayerSlice slice = slice_of(4);
  const auto first = [&] {
    const LayerProgram program = layer_program(shape, slice, false, megatron());
    return *std::ranges::find(program.forward, LayerStep::Kind::product, &LayerStep::kind);
  };
  CHECK(first().n == 1536 + 512 + 64);
  // Every rank has the whole matrix, and with sequence parallelism a quarter of the tokens.
  CHECK(first().m == 4096 / 4);
  slice.sequence_parallel = false;
  CHECK(first().m == 4096);
  shape.latent->query_rank = 0;  // queries come from the hidden values at once
  CHECK(first().n == 512 + 64);
}

TEST_CASE("backward is twice the products and two and a half times the attention of forward") {
  const LayerProgram program = layer_program(test::llama3_8b_shape(), slice_of(1), false, megatron());
  const double attention = flops_of_attention(program.forward);
  CHECK(flops_of_attention(program.backward) == Approx(2.5 * attention));
  const double products = flops_of(program.forward) - attention;
  CHECK(flops_of(program.backward) == Approx(2 * products + 2.5 * attention));
  // One product of each two is of weights.
  CHECK(weight_gradient_flops(program.backward) == Approx(products));
}

TEST_CASE("FLOPs of tensor ranks sum to those of one, in every framework") {
  for (const LayerKernels& kernels : layer_kernels()) {
    const TransformerShape shape = test::llama3_8b_shape();
    const double alone = flops_of_ranks(layer_program(shape, slice_of(1), false, kernels), slice_of(1));
    for (const int tensor : {2, 4, 8}) {
      for (const auto overlap : {TensorOverlap::none, TensorOverlap::backward, TensorOverlap::pieces}) {
        for (const bool sequence_parallel : {true, false}) {
          LayerSlice slice = slice_of(tensor);
          slice.overlap = overlap, slice.sequence_parallel = sequence_parallel;
          INFO(kernels.name << ", tensor " << tensor);
          CHECK(flops_of_ranks(layer_program(shape, slice, false, kernels), slice) ==
                Approx(alone).epsilon(1e-9));
        }
      }
    }
  }
}

TEST_CASE("FLOPs of head and embedding are shared out by vocabulary") {
  const TransformerShape shape = test::llama3_8b_shape();  // 128,256 words divide by 8
  const double alone = flops_of_ranks(head_program(shape, slice_of(1), megatron()), slice_of(1));
  CHECK(alone == Approx(3 * 2.0 * 4096 * 4096 * 128256));
  CHECK(flops_of_ranks(head_program(shape, slice_of(8), megatron()), slice_of(8)) == Approx(alone));
  CHECK(flops_of(embedding_program(shape, slice_of(8), megatron()).forward) == 0);
}

TEST_CASE("context ranks of every exchange have together the arithmetic of one rank") {
  for (const TransformerShape& shape : {test::llama3_8b_shape(), test::deepseek_v3_shape()}) {
    const LayerProgram one = layer_program(shape, slice_of(1), false, megatron());
    for (const int context : {2, 4, 8}) {
      for (const auto exchange :
           {ContextExchange::ring, ContextExchange::all_gather, ContextExchange::ulysses}) {
        LayerSlice slice = slice_of(1, context);
        slice.context_exchange = exchange;
        const LayerProgram program = layer_program(shape, slice, false, megatron());
        INFO(shape.hidden << " wide, context " << context << ", exchange " << static_cast<int>(exchange));
        // A query sees itself, which half of the gathered keys leaves out: one of 4096 + 1.
        const auto all = [](double flops) { return Approx(flops).epsilon(1.0 / 4096); };
        CHECK(context * flops_of_attention(program.forward) == all(flops_of_attention(one.forward)));
        CHECK(context * flops_of_attention(program.backward) == all(flops_of_attention(one.backward)));
        CHECK(context * flops_of(program.forward) == all(flops_of(one.forward)));
      }
    }
  }
}

TEST_CASE("experts of all degrees have together the arithmetic of one rank") {
  for (const TransformerShape& shape : {test::mixtral_8x7b_shape(), test::deepseek_v3_shape()}) {
    const LayerProgram one = layer_program(shape, slice_of(1), true, megatron());
    const double alone = flops_of_ranks(one, slice_of(1));
    for (const int tensor : {1, 2, 4}) {
      for (const int expert : {1, 2, 8}) {
        for (const int expert_tensor : {1, 2}) {
          LayerSlice slice = slice_of(tensor);
          slice.expert = expert, slice.expert_tensor = expert_tensor;
          INFO(shape.hidden << " wide, tensor " << tensor << ", expert " << expert << " x " << expert_tensor);
          CHECK(flops_of_ranks(layer_program(shape, slice, true, megatron()), slice) ==
                Approx(alone).epsilon(1e-9));
        }
      }
    }
  }
}

TEST_CASE("the busiest expert rank has as much more to do as tokens, unless a capacity drops them") {
  const TransformerShape shape = test::mixtral_8x7b_shape();
  const auto grouped = [&](double imbalance, double capacity) {
    LayerSlice slice = slice_of(1);
    slice.imbalance = imbalance, slice.capacity_factor = capacity;
    double rows = 0;
    for (const LayerStep& step : layer_program(shape, slice, true, megatron()).forward)
      if (step.kind == LayerStep::Kind::product && step.count > 1) rows = static_cast<double>(step.m);
    return rows;
  };
  CHECK(grouped(1, 0) == 1024);       // 4096 tokens to 2 experts each, of 8
  CHECK(grouped(1.25, 0) == 1280);    // 1024 x 1.25
  CHECK(grouped(1.25, 1.5) == 1536);  // 1024 x 1.5: places that are not filled are computed all the same
}

TEST_CASE("full recomputation runs all of forward again, selective the attention, none nothing") {
  const TransformerShape shape = test::llama3_8b_shape();
  LayerSlice slice = slice_of(8);
  const LayerProgram none = layer_program(shape, slice, false, megatron());
  CHECK(none.again.empty());
  slice.recompute = Recompute::full;
  const LayerProgram full = layer_program(shape, slice, false, megatron());
  REQUIRE(full.again.size() == full.forward.size());
  for (std::size_t i = 0; i < full.again.size(); ++i) {
    CHECK(full.again[i].kind == full.forward[i].kind);
    CHECK(full.again[i].bytes == full.forward[i].bytes);
    CHECK(full.again[i].waits_for == full.forward[i].waits_for);
  }
  CHECK(flops_of(full.again) == flops_of(full.forward));
  slice.recompute = Recompute::selective;
  const LayerProgram selective = layer_program(shape, slice, false, megatron());
  CHECK(flops_of(selective.again) == flops_of_attention(selective.forward));
}

TEST_CASE("full recomputation keeps a layer's input alone") {
  LayerSlice slice = slice_of(8);
  const TransformerShape shape = test::llama3_8b_shape();
  const LayerProgram none = layer_program(shape, slice, false, megatron());
  slice.recompute = Recompute::full;
  const LayerProgram full = layer_program(shape, slice, false, megatron());
  CHECK(full.saved_bytes == 2.0 * 4096 * 4096 / 8);  // 16 bit of this rank's tokens
  CHECK(full.transient_bytes == none.saved_bytes);
  CHECK(none.transient_bytes == 0);
}

TEST_CASE("a wait names an exchange in front of it that runs behind") {
  for (const LayerKernels& kernels : layer_kernels()) {
    for (const int context : {1, 4}) {
      LayerSlice slice = slice_of(4, context);
      slice.overlap = TensorOverlap::backward;
      const LayerProgram program = layer_program(test::deepseek_v3_shape(), slice, true, kernels);
      for (const auto* steps : {&program.forward, &program.backward}) {
        for (std::size_t i = 0; i < steps->size(); ++i) {
          const int waits_for = (*steps)[i].waits_for;
          if (waits_for < 0) continue;
          REQUIRE(static_cast<std::size_t>(waits_for) < i);
          CHECK((*steps)[static_cast<std::size_t>(waits_for)].kind == LayerStep::Kind::exchange);
          CHECK((*steps)[static_cast<std::size_t>(waits_for)].behind);
        }
      }
    }
  }
}

TEST_CASE("a framework's version that fuses one more operator is one row") {
  LayerKernels fused = layer_kernels_of(LlmFramework::pytorch);
  fused.rotary_passes = 0, fused.rotary_launches = 0;  // its attention kernel turns positions itself
  const LayerSlice slice = slice_of(1);
  const auto program = [&](const LayerKernels& row) {
    return layer_program(test::llama3_8b_shape(), slice, false, row);
  };
  const auto launches = [](const std::vector<LayerStep>& steps) {
    int sum = 0;
    for (const LayerStep& step : steps) sum += step.launches;
    return sum;
  };
  const LayerKernels& apart = layer_kernels_of(LlmFramework::pytorch);
  for (auto steps : {&LayerProgram::forward, &LayerProgram::backward}) {
    const std::vector<LayerStep> one = program(fused).*steps, all = program(apart).*steps;
    CHECK(all.size() == one.size() + 1);
    CHECK(launches(all) == launches(one) + apart.rotary_launches);
    CHECK(flops_of(all) == flops_of(one));
  }
}

TEST_CASE("the router's products are in 16 bit both ways, whatever the precision of the experts") {
  const TransformerShape shape = test::mixtral_8x7b_shape();
  LayerSlice slice = slice_of(1);
  slice.precision = KernelPrecision::fp8;
  const LayerProgram program = layer_program(shape, slice, true, megatron());
  const auto routers = [&](const std::vector<LayerStep>& steps) {
    return std::ranges::count_if(steps, [&](const LayerStep& step) {
      const bool has_scores = step.m == 8 || step.n == 8 || step.k == 8;  // a score for each of 8 experts
      return step.kind == LayerStep::Kind::product && step.is_half && has_scores;
    });
  };
  CHECK(routers(program.forward) == 1);
  CHECK(routers(program.backward) == 2);
}

}  // namespace transformer_layer_test

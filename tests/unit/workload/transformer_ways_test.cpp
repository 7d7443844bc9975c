// Ways of running a layer: whose attention, what is computed anew, products in 4 bit, a further predicted
// token.
#include <algorithm>
#include <vector>

#include "sim/workload/device/tensor_cores.hpp"
#include "sim/workload/transformer/layer_program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"

namespace transformer_ways_test {

using namespace foretrain;

namespace {

const LayerKernels& megatron() { return layer_kernels_of(LlmFramework::megatron_te); }

LayerSlice slice_of(int tensor = 1) {
  LayerSlice slice;
  slice.sequence = 4096, slice.tensor = tensor, slice.sequence_parallel = tensor > 1;
  return slice;
}

LayerProgram llama(const LayerSlice& slice) {
  return layer_program(test::llama3_8b_shape(), slice, false, megatron());
}

double moved(const std::vector<LayerStep>& steps) {
  double sum = 0;
  for (const LayerStep& step : steps)
    if (step.kind == LayerStep::Kind::bytes) sum += step.bytes;
  return sum;
}

}  // namespace

TEST_CASE("unfused attention computes both halves of the scores and keeps five bytes of each") {
  LayerSlice slice = slice_of(), unfused = slice;
  unfused.attention = AttentionKernel::unfused;
  const TransformerShape shape = test::llama3_8b_shape();
  // Two products of scores, twice the causal half (and its diagonal); backward twice as many, no
  // recomputation.
  const double scores = 4.0 * 4096 * 4096 * static_cast<double>(shape.heads * shape.head_dim);
  CHECK(flops_of(llama(unfused).forward) - flops_of(llama(slice).forward) ==
        Approx(scores / 2).epsilon(1e-3));
  CHECK(flops_of(llama(unfused).backward) - flops_of(llama(slice).backward) ==
        Approx(2 * scores - 1.25 * scores).epsilon(1e-3));
  const double kept = 5.0 * shape.heads * 4096 * 4096;
  CHECK(llama(unfused).saved_bytes - llama(slice).saved_bytes == Approx(kept));
  unfused.recompute = slice.recompute = Recompute::selective;
  CHECK(llama(unfused).saved_bytes == Approx(llama(slice).saved_bytes));
  CHECK(flops_of(llama(unfused).again) == Approx(scores));
}

TEST_CASE("what save_qkv repeats lacks the products of queries, keys and values and the last one") {
  LayerSlice slice = slice_of();
  slice.recompute = Recompute::save_qkv;
  const LayerProgram program = llama(slice);
  const TransformerShape shape = test::llama3_8b_shape();
  const double tokens = 4096, h = static_cast<double>(shape.hidden);
  const double qkv = (shape.heads + 2.0 * shape.kv_heads) * static_cast<double>(shape.head_dim);
  const double left_out = 2 * tokens * h * (qkv + static_cast<double>(shape.inner));
  CHECK(flops_of(program.forward) - flops_of(program.again) == Approx(left_out));
  CHECK(program.saved_bytes == Approx(2 * tokens * (h + qkv)));
  slice.recompute = Recompute::full;
  CHECK(llama(slice).saved_bytes < program.saved_bytes);
}

TEST_CASE("selective by operator keeps the results of every second product, and the attention core's") {
  const LayerKernels& kernels = layer_kernels_of(LlmFramework::torchtitan);
  const TransformerShape shape = test::llama3_8b_shape();
  LayerSlice slice = slice_of();
  slice.recompute = Recompute::selective;
  const LayerProgram program = layer_program(shape, slice, false, kernels);
  const double tokens = 4096, h = static_cast<double>(shape.hidden), f = static_cast<double>(shape.inner);
  const double groups = static_cast<double>(shape.kv_heads * shape.head_dim);
  // Input, queries, values, result of attention, gate, last product; 16 bit each.
  CHECK(program.saved_bytes == Approx(2 * tokens * (h + h + groups + h + f + h)));
  // Keys, output of attention and the other half of the gate run again.
  CHECK(flops_of(program.again) == Approx(2 * tokens * h * (groups + h + f)));
  slice.tensor = 8, slice.sequence_parallel = true;
  const auto exchanges = [](const std::vector<LayerStep>& steps) {
    return std::ranges::count_if(steps,
                                 [](const LayerStep& step) { return step.along == ParallelAxis::tensor; });
  };
  const LayerProgram cut = layer_program(shape, slice, false, kernels);
  CHECK(exchanges(cut.again) == exchanges(cut.forward));  // as torchtitan's recorded step
}

TEST_CASE("modules of Megatron-LM free what they keep and run themselves again") {
  const TransformerShape shape = test::llama3_8b_shape();
  LayerSlice slice = slice_of();
  const LayerProgram none = llama(slice);
  slice.recompute = Recompute::selective;
  const auto with = [&](std::string_view names) {
    slice.recompute_modules = find_layer_modules(names).value();
    return llama(slice);
  };
  const double tokens = 4096, h = static_cast<double>(shape.hidden), f = static_cast<double>(shape.inner);
  CHECK(none.saved_bytes - with("layernorm").saved_bytes == Approx(2 * 2 * tokens * h));
  CHECK(flops_of(with("layernorm").again) == 0);
  CHECK(none.saved_bytes - with("mlp").saved_bytes == Approx(3 * 2 * tokens * f));
  CHECK(flops_of(with("mlp").again) == Approx(2 * tokens * h * 2 * f));
  CHECK(with("moe, moe_act").saved_bytes == none.saved_bytes);  // a layer without experts
  CHECK(none.saved_bytes - with("mlp,layernorm").saved_bytes == Approx(2 * tokens * (2 * h + 3 * f)));
  CHECK_FALSE(find_layer_modules("mlp, mixer"));
  CHECK(names_of_layer_modules(find_layer_modules("mlp, core_attn").value()) == "core_attn, mlp");
}

TEST_CASE("all of the experts counts its parts once") {
  TransformerShape shape = test::llama3_8b_shape();
  shape.experts = ExpertLayers{.experts = 8, .top_k = 2, .shared = 1, .width = 1024};
  LayerSlice slice = slice_of();
  const LayerProgram none = layer_program(shape, slice, true, megatron());
  slice.recompute = Recompute::selective;
  const auto freed = [&](std::string_view names) {
    slice.recompute_modules = find_layer_modules(names).value();
    return none.saved_bytes - layer_program(shape, slice, true, megatron()).saved_bytes;
  };
  CHECK(freed("moe") == Approx(freed("moe, moe_act, shared_experts")));
  CHECK(freed("moe_act") == Approx(2.0 * 4096 * 2 * 1024));  // rows to two experts each, 16 bit
  CHECK(freed("shared_experts") == Approx(3 * 2.0 * 4096 * 1024));
  CHECK(freed("moe") > freed("moe_act") + freed("shared_experts"));
}

TEST_CASE("4 bit adds conversions of inputs and of results' gradients, none for the head") {
  LayerSlice wide = slice_of(), narrow = wide;
  narrow.precision = KernelPrecision::fp4;
  const TransformerShape shape = test::llama3_8b_shape();
  const double h = static_cast<double>(shape.hidden), inner = static_cast<double>(shape.inner);
  const double qkv = (shape.heads + 2.0 * shape.kv_heads) * static_cast<double>(shape.head_dim);
  constexpr double kBytes = 2 + 2 + 2 * (0.5 + 1.0 / 16);
  CHECK(moved(llama(narrow).forward) - moved(llama(wide).forward) ==
        Approx(kBytes * 4096 * (h + h + h + inner)));
  CHECK(moved(llama(narrow).backward) - moved(llama(wide).backward) ==
        Approx(kBytes * 4096 * (qkv + h + 2 * inner + h)));
  CHECK(flops_of(llama(narrow).forward) == flops_of(llama(wide).forward));
  CHECK(llama(narrow).saved_bytes < llama(wide).saved_bytes);
  const LayerProgram head = head_program(shape, narrow, megatron());
  CHECK(moved(head.forward) == moved(head_program(shape, wide, megatron()).forward));
  CHECK(std::ranges::all_of(head.forward, &LayerStep::is_half, [](const LayerStep& step) {
    return step.kind == LayerStep::Kind::product ? step : LayerStep{.is_half = true};
  }));
}

TEST_CASE("what joins a further token to the layers is one product of twice the width") {
  const TransformerShape shape = test::llama3_8b_shape();
  for (const int tensor : {1, 4}) {
    const LayerProgram program = join_program(shape, slice_of(tensor), megatron());
    const double whole = 2.0 * 4096 * 2 * static_cast<double>(shape.hidden * shape.hidden);
    CHECK(flops_of(program.forward) * tensor == Approx(whole));
    CHECK(flops_of(program.backward) * tensor == Approx(2 * whole));
  }
}

TEST_CASE("older fused attention takes as much longer as the author of the second version says") {
  Gpu gpu;
  gpu.architecture = Architecture::ampere, gpu.compute_capability = 8.0, gpu.sm_count = 108;
  gpu.fp32 = {19.5e12}, gpu.fp16 = gpu.bf16 = {312e12};
  gpu.memory_bandwidth = {2.039e12}, gpu.l2_cache = {40'000'000};
  const auto seconds_of = [&](AttentionKernel kernel, bool backward) {
    FlashAttention a;
    a.batch = 1, a.query_length = a.key_length = 16384, a.heads = a.kv_heads = 16, a.head_dim = 128;
    a.backward = backward, a.kernel = kernel;
    return flash_attention_seconds(a, KernelPrecision::bf16, gpu, default_kernel_calibration(gpu));
  };
  for (const bool backward : {false, true}) {
    const double second = seconds_of(AttentionKernel::version_2, backward);
    CHECK(seconds_of(AttentionKernel::version_1, backward) / second == Approx(2).epsilon(0.03));
    CHECK(seconds_of(AttentionKernel::version_1_triton, backward) / second ==
          Approx(backward ? 2 : 1.4).epsilon(0.03));
  }
}

TEST_CASE("products in 4 bit run at the data sheet's ratio, and in 8 bit where there is no such unit") {
  Gpu gpu;
  gpu.architecture = Architecture::blackwell, gpu.compute_capability = 10.0, gpu.sm_count = 148;
  gpu.fp32 = {80e12}, gpu.fp16 = gpu.bf16 = {2250e12}, gpu.fp8 = {4500e12};
  gpu.memory_bandwidth = {8e12}, gpu.l2_cache = {126'000'000};
  const auto seconds_of = [&](KernelPrecision precision) {
    return gemm_seconds(16384, 16384, 16384, 1, precision, gpu, default_kernel_calibration(gpu));
  };
  CHECK(fp4_rate(gpu).per_second == 9000e12);
  const double eight = seconds_of(KernelPrecision::fp8);
  CHECK(eight / seconds_of(KernelPrecision::fp4) > 1.7);
  CHECK(eight / seconds_of(KernelPrecision::fp4) <= 2.01);
  gpu.compute_capability = 10.3;
  CHECK(fp4_rate(gpu).per_second == 13500e12);
  CHECK(seconds_of(KernelPrecision::fp4) < eight / 1.9);
  gpu.architecture = Architecture::hopper, gpu.compute_capability = 9.0;
  CHECK(fp4_rate(gpu).per_second == 0);
  CHECK(seconds_of(KernelPrecision::fp4) == seconds_of(KernelPrecision::fp8));
}

}  // namespace transformer_ways_test

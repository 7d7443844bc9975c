// Parameters and FLOPs by the sizes of a transformer: published counts, to the last one.
#include <string>
#include <vector>

#include "sim/workload/transformer/shape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"

namespace transformer_shape_test {

using namespace foretrain;
using test::llama_shape;

namespace {

struct Published {
  std::string model;
  TransformerShape shape;
  std::int64_t parameters;
};

/// Sizes by each model's configuration; parameters by the index of its weights or its sizes.
std::vector<Published> published() {
  TransformerShape qwen3 = test::with_experts(llama_shape(48, 2048, 32, 4, 6144, 151936), 128, 8, 768);
  qwen3.head_dim = 128;  // wider than 2048 / 32
  return {
      {"Llama-2 7B", llama_shape(32, 4096, 32, 32, 11008, 32000), 6'738'415'616},
      {"Llama-2 13B", llama_shape(40, 5120, 40, 40, 13824, 32000), 13'015'864'320},
      {"Llama-2 70B", llama_shape(80, 8192, 64, 8, 28672, 32000), 68'976'648'192},
      {"Llama-3 8B", test::llama3_8b_shape(), 8'030'261'248},
      {"Llama-3 70B", llama_shape(80, 8192, 64, 8, 28672, 128256), 70'553'706'496},
      {"Llama-3.1 405B", llama_shape(126, 16384, 128, 8, 53248, 128256), 405'853'388'800},
      {"Llama-3.2 1B", llama_shape(16, 2048, 32, 8, 8192, 128256, true), 1'235'814'400},
      {"Llama-3.2 3B", llama_shape(28, 3072, 24, 8, 8192, 128256, true), 3'212'749'824},
      {"bench 1B", test::bench_1b_shape(), 1'342'244'864},
      {"bench 3B", test::bench_3b_shape(), 3'573'722'112},
      {"bench 8B", test::bench_8b_shape(), 8'858'636'288},
      {"bench 80B", test::bench_80b_shape(), 79'995'084'800},
      {"bench 70B-GQA8", llama_shape(80, 8192, 64, 8, 28672, 131072), 70'599'843'840},
      {"Mixtral 8x7B", test::mixtral_8x7b_shape(), 46'702'792'704},
      {"Mixtral 8x22B", test::with_experts(llama_shape(56, 6144, 48, 8, 16384, 32768), 8, 2, 16384),
       140'630'071'296},
      // Without norms of queries and keys, two of 128 values in each of 48 layers.
      {"Qwen3-30B-A3B", qwen3, 30'532'122'624 - 48 * 2 * 128},
      // Without what balances the router, a value for each of 256 experts in 58 layers; it is not trained.
      {"DeepSeek-V3", test::deepseek_v3_shape(), 671'026'419'200 - 58 * 256},
      {"GPT-3 175B, padded vocabulary", test::gpt_shape(96, 12288, 96, 51200, 2048), 174'615'846'912},
  };
}

}  // namespace

TEST_CASE("parameters of published shapes are exactly those published") {
  for (const Published& row : published()) {
    INFO(row.model);
    CHECK(parameters_of(row.shape).total == row.parameters);
  }
}

TEST_CASE("a token passes as many parameters as mixtures of experts are said to have active") {
  // 12.88 billion of Mixtral 8x7B, 37.55 of DeepSeek-V3, the table of words with them.
  CHECK(static_cast<double>(parameters_of(test::mixtral_8x7b_shape()).active) ==
        Approx(12.88e9).epsilon(1e-3));
  CHECK(static_cast<double>(parameters_of(test::deepseek_v3_shape()).active) ==
        Approx(37.55e9).epsilon(1e-3));
  const ParameterCount dense = parameters_of(test::llama3_8b_shape());
  CHECK(dense.active == dense.total);
}

TEST_CASE("parts of a network sum to its parameters") {
  const TransformerShape shape = test::deepseek_v3_shape();
  const ParameterCount count = parameters_of(shape);
  CHECK(count.router == 256 * 7168);
  CHECK(count.one_expert == 3 * 7168 * 2048);
  CHECK(count.dense == 3LL * 7168 * 18432);
  // 61 layers of attention, 3 dense ones, 58 with a router, 256 experts and the shared one.
  CHECK(count.total == count.embedding + count.head + 61 * count.attention + 3 * count.dense +
                           58 * (count.router + 257 * count.one_expert));
}

TEST_CASE("a tied matrix counts once, and is in embedding and head all the same") {
  TransformerShape shape = test::bench_1b_shape();
  const ParameterCount tied = parameters_of(shape);
  shape.tied = false;
  const ParameterCount apart = parameters_of(shape);
  CHECK(apart.total - tied.total == 131072 * 2048);
  CHECK(apart.head == tied.head);
  CHECK(apart.embedding == tied.embedding);
}

TEST_CASE("which layers have experts follows from the first dense ones and one in so many") {
  TransformerShape shape = test::with_experts(llama_shape(8, 64, 4, 4, 256, 100), 4, 1, 64);
  CHECK(expert_layers_of(shape) == 8);
  shape.experts->dense_layers = 3;
  CHECK_FALSE(has_experts(shape, 2));
  CHECK(has_experts(shape, 3));
  CHECK(expert_layers_of(shape) == 5);
  shape.experts->dense_layers = 0, shape.experts->every = 2;
  // 1, 3, 5, 7 of 0 to 7, as in Llama 4 Maverick.
  CHECK_FALSE(has_experts(shape, 0));
  CHECK(has_experts(shape, 1));
  CHECK(expert_layers_of(shape) == 4);
  shape.experts.reset();
  CHECK(expert_layers_of(shape) == 0);
  CHECK_FALSE(has_experts(shape, 7));
}

TEST_CASE("FLOPs of a forward pass are two for each parameter that is no lookup, and those of the scores") {
  const TransformerShape shape = test::llama3_8b_shape();
  const ParameterCount count = parameters_of(shape);
  const double matrices = 2.0 * static_cast<double>(count.total - count.embedding);
  // 4 s h of each layer: queries times keys and scores times values, of all heads 32 x 128 = h.
  const double scores = 4.0 * 32 * 8192 * 4096;
  CHECK(forward_flops_per_token(shape, 8192, false) == Approx(matrices + scores).epsilon(1e-12));
  CHECK(forward_flops_per_token(shape, 8192, true) == Approx(matrices + scores / 2).epsilon(1e-12));
  // A tied head multiplies by the matrix that the embedding looks up.
  TransformerShape tied = shape;
  tied.tied = true;
  CHECK(forward_flops_per_token(tied, 8192, true) == Approx(matrices + scores / 2).epsilon(1e-12));
}

}  // namespace transformer_shape_test

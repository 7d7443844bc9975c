// Layers of stages: nanotron's splits by cost, Megatron-LM's equal ones, chunks of interleaved and V-shaped
// pipelines.
#include "sim/strategy/parallel/stages.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"

namespace parallel_stages_test {

using namespace foretrain;

namespace {

std::vector<StageChunk> chunks_of(const TransformerShape& shape, LlmFramework framework, int pipeline,
                                  int virtual_stages = 1) {
  LargeModelRun job = test::job_of(shape, {.pipeline = pipeline, .virtual_stages = virtual_stages}, pipeline);
  job.framework = framework;
  return stage_chunks(job);
}

std::vector<int> layers_of(const std::vector<StageChunk>& chunks) {
  std::vector<int> layers;
  for (const StageChunk& chunk : chunks) layers.push_back(chunk.layers);
  return layers;
}

std::vector<int> nanotron(const TransformerShape& shape, int pipeline) {
  return layers_of(chunks_of(shape, LlmFramework::nanotron, pipeline));
}

std::vector<int> megatron(int layers, int pipeline) {
  TransformerShape shape = test::llama3_8b_shape();
  shape.layers = layers;
  return layers_of(chunks_of(shape, LlmFramework::megatron_te, pipeline));
}

int stage_of_head(const std::vector<StageChunk>& chunks) {
  int stage = -1;
  for (const StageChunk& chunk : chunks)
    if (chunk.head) stage = chunk.stage;
  return stage;
}

using Layers = std::vector<int>;

}  // namespace

// Printed by nanotron's own rule for the networks of its benchmarks.
TEST_CASE("nanotron's stages have layers by their cost") {
  CHECK(nanotron(test::bench_1b_shape(), 2) == Layers{11, 5});
  CHECK(nanotron(test::bench_1b_shape(), 4) == Layers{6, 5, 5, 0});
  CHECK(nanotron(test::bench_1b_shape(), 8) == Layers{3, 3, 2, 3, 2, 3, 0, 0});
  CHECK(nanotron(test::bench_1b_shape(), 16) == Layers{2, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 0, 0, 0, 0});
  CHECK(nanotron(test::bench_3b_shape(), 2) == Layers{16, 12});
  CHECK(nanotron(test::bench_3b_shape(), 4) == Layers{8, 8, 8, 4});
  CHECK(nanotron(test::bench_3b_shape(), 8) == Layers{4, 4, 4, 4, 4, 4, 4, 0});
  CHECK(nanotron(test::bench_3b_shape(), 16) == Layers{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0});
  CHECK(nanotron(test::bench_8b_shape(), 2) == Layers{18, 14});
  CHECK(nanotron(test::bench_8b_shape(), 4) == Layers{9, 9, 8, 6});
  CHECK(nanotron(test::bench_8b_shape(), 8) == Layers{5, 4, 4, 5, 4, 4, 4, 2});
  CHECK(nanotron(test::bench_8b_shape(), 16) == Layers{3, 2, 2, 2, 2, 2, 2, 3, 2, 2, 2, 2, 2, 2, 2, 0});
  CHECK(nanotron(test::bench_80b_shape(), 2) == Layers{41, 39});
  CHECK(nanotron(test::bench_80b_shape(), 4) == Layers{21, 20, 20, 19});
  CHECK(nanotron(test::bench_80b_shape(), 8) == Layers{11, 10, 10, 10, 10, 10, 10, 9});
  CHECK(nanotron(test::bench_80b_shape(), 16) == Layers{6, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 3});
}

// A head of 1B costs four layers: 16 of 20 layers' worth are more than 6/8 of all, not more than 7/8.
TEST_CASE("nanotron's head is on the last stage that is reached") {
  CHECK(stage_of_head(chunks_of(test::bench_1b_shape(), LlmFramework::nanotron, 8)) == 6);
  CHECK(stage_of_head(chunks_of(test::bench_1b_shape(), LlmFramework::nanotron, 4)) == 3);
  CHECK(stage_of_head(chunks_of(test::bench_80b_shape(), LlmFramework::nanotron, 16)) == 15);
}

TEST_CASE("Megatron-LM's stages have as many layers each, what is over goes to the first") {
  CHECK(megatron(32, 4) == Layers{8, 8, 8, 8});
  CHECK(megatron(33, 4) == Layers{9, 8, 8, 8});
  // 126 + 2 layers are 8 x 16: embedding and head count as one each (Llama 3.1 405B).
  CHECK(megatron(126, 8) == Layers{15, 16, 16, 16, 16, 16, 16, 15});
}

TEST_CASE("chunks of a pipeline have all layers in order, one embedding and one head") {
  for (const auto framework : {LlmFramework::nanotron, LlmFramework::megatron_te}) {
    for (const int pipeline : {1, 2, 3, 4, 7, 8}) {
      for (const int chunks_each : {1, 2, 4}) {
        if (pipeline == 1 && chunks_each > 1) continue;
        const auto chunks = chunks_of(test::llama3_8b_shape(), framework, pipeline, chunks_each);
        INFO(pipeline << " stages of " << chunks_each);
        REQUIRE(static_cast<int>(chunks.size()) == pipeline * chunks_each);
        int next = 0, heads = 0;
        for (std::size_t k = 0; k < chunks.size(); ++k) {
          CHECK(chunks[k].first == next);
          CHECK(chunks[k].stage == static_cast<int>(k) % pipeline);
          CHECK(chunks[k].embedding == (k == 0));
          next += chunks[k].layers, heads += chunks[k].head ? 1 : 0;
        }
        CHECK(next == 32);
        CHECK(heads == 1);
      }
    }
  }
}

TEST_CASE("V-shaped pipelines come back the way they went, and end where they began") {
  LargeModelRun job = test::job_of(test::llama3_8b_shape(), {.pipeline = 4}, 8);
  job.schedule = PipelineSchedule::zbv;
  const std::vector<StageChunk> chunks = stage_chunks(job);
  std::vector<int> stages;
  for (const StageChunk& chunk : chunks) stages.push_back(chunk.stage);
  CHECK(stages == std::vector<int>{0, 1, 2, 3, 3, 2, 1, 0});
  CHECK(chunks.back().head);
  CHECK(chunks_per_stage(job) == 2);
}

TEST_CASE("layers with experts are counted where they are") {
  // DeepSeek-V3 on 4 stages: 61 layers as 16, 15, 15, 15, the first three of them dense.
  const auto chunks = chunks_of(test::deepseek_v3_shape(), LlmFramework::megatron_te, 4);
  CHECK(layers_of(chunks) == Layers{16, 15, 15, 15});
  CHECK(chunks[0].expert_layers == 13);
  CHECK(chunks[1].expert_layers == 15);
  CHECK(chunks[1].is_like(chunks[2]));
  CHECK_FALSE(chunks[2].is_like(chunks[3]));  // which has the head
}

}  // namespace parallel_stages_test

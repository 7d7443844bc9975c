// What frameworks send differently for one layout: gathered inputs, sums by matrix, parameters of stages.
#include <algorithm>

#include "sim/strategy/parallel/stages.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_framework_messages_test {

using namespace foretrain;
using test::job_of;
using test::StepOfJob;

namespace {

LargeModelJob job_by(LlmFramework framework, const Degrees& degrees, std::int64_t micro_batches) {
  LargeModelJob job = job_of(test::four_layers_shape(), degrees, micro_batches);
  job.framework = framework, job.sharding = ModelSharding::none;
  return job;
}

std::ptrdiff_t count(const std::vector<PassMessage>& messages, RankGroup group, Exchange exchange) {
  return std::ranges::count_if(messages, [&](const PassMessage& message) {
    return message.group == group && message.exchange == exchange;
  });
}

}  // namespace

TEST_CASE("Megatron gathers a column layer's input again in backward and torchtitan keeps it") {
  const auto gathers = [](LlmFramework framework) {
    const LargeStepRecord record = StepOfJob(job_by(framework, {.tensor = 4}, 1)).record();
    return count(record.chunks.front().messages.backward, RankGroup::tensor, Exchange::all_gather);
  };
  // Of each of four layers two gradients of row layers, and the embedding's; with Megatron-LM two inputs of
  // each layer and the head's besides.
  CHECK(gathers(LlmFramework::torchtitan) == 4 * 2 + 1);
  CHECK(gathers(LlmFramework::megatron_te) == 4 * 4 + 2);
}

TEST_CASE("without sequence parallelism transformers' plan sums a gradient for each matrix") {
  LargeModelJob job = job_by(LlmFramework::pytorch, {.tensor = 4}, 1);
  job.sequence_parallel = false;
  const ChunkMessages messages = StepOfJob(job).record().chunks.front().messages;
  // Queries, keys, values, gate and up of four layers, and the head.
  CHECK(count(messages.backward, RankGroup::tensor, Exchange::all_reduce) == 4 * 5 + 1);
  CHECK(count(messages.forward, RankGroup::tensor, Exchange::all_reduce) == 4 * 2 + 1);
  CHECK(count(messages.forward, RankGroup::tensor, Exchange::all_gather) == 1);  // logits
}

TEST_CASE("stages of torchtitan gather what they share out once a step") {
  LargeModelJob job = job_by(LlmFramework::torchtitan, {.pipeline = 2, .data = 4}, 16);
  job.sharding = ModelSharding::parameters;
  REQUIRE(job.keeps_gathered());
  const LargeStepRecord record = StepOfJob(job).record();
  for (const RecordedChunk& chunk : record.chunks)
    CHECK(count(chunk.messages.forward, RankGroup::shards, Exchange::all_gather) == 0);
  // The embedding and two layers; two layers and the head.
  for (const RecordedEnd& end : record.ends) {
    CHECK(count(end.messages, RankGroup::shards, Exchange::all_gather) == 3);
    CHECK(count(end.messages, RankGroup::shards, Exchange::reduce_scatter) == 3);
  }
  job.framework = LlmFramework::megatron_te;
  CHECK_FALSE(job.keeps_gathered());
}

TEST_CASE("torchtitan counts embedding and head as a layer each") {
  TransformerShape shape = test::four_layers_shape();
  shape.layers = 8;
  LargeModelJob job = job_of(shape, {.pipeline = 4}, 8);
  const auto layers = [](const LargeModelJob& asked) {
    std::vector<int> counts;
    for (const StageChunk& chunk : stage_chunks(asked)) counts.push_back(chunk.layers);
    return counts;
  };
  CHECK(layers(job) == std::vector<int>{2, 2, 2, 2});
  job.framework = LlmFramework::torchtitan;
  CHECK(layers(job) == std::vector<int>{2, 3, 2, 1});
}

}  // namespace parallel_framework_messages_test

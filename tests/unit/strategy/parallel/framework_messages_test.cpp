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

LargeModelRun job_by(LlmFramework framework, const Degrees& degrees, std::int64_t micro_batches) {
  LargeModelRun job = job_of(test::four_layers_shape(), degrees, micro_batches);
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
  LargeModelRun job = job_by(LlmFramework::pytorch, {.tensor = 4}, 1);
  job.sequence_parallel = false;
  const ChunkMessages messages = StepOfJob(job).record().chunks.front().messages;
  // Queries, keys, values, gate and up of four layers, and the head.
  CHECK(count(messages.backward, RankGroup::tensor, Exchange::all_reduce) == 4 * 5 + 1);
  CHECK(count(messages.forward, RankGroup::tensor, Exchange::all_reduce) == 4 * 2 + 1);
  CHECK(count(messages.forward, RankGroup::tensor, Exchange::all_gather) == 1);  // logits
}

TEST_CASE("stages of torchtitan gather what they share out once a step") {
  LargeModelRun job = job_by(LlmFramework::torchtitan, {.pipeline = 2, .data = 4}, 16);
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
  LargeModelRun job = job_of(shape, {.pipeline = 4}, 8);
  const auto layers = [](const LargeModelRun& asked) {
    std::vector<int> counts;
    for (const StageChunk& chunk : stage_chunks(asked)) counts.push_back(chunk.layers);
    return counts;
  };
  CHECK(layers(job) == std::vector<int>{2, 2, 2, 2});
  job.framework = LlmFramework::torchtitan;
  CHECK(layers(job) == std::vector<int>{2, 3, 2, 1});
}

TEST_CASE("experts' parameters are gathered by the ranks that hold the same ones, and counts go ahead") {
  LargeModelRun job = job_of(test::mixtral_8x7b_shape(), {.expert = 4, .data = 8}, 1);
  job.framework = LlmFramework::torchtitan, job.sharding = ModelSharding::parameters;
  const ChunkMessages sent = StepOfJob(job).record().chunks.front().messages;
  const ParameterCount counts = parameters_of(job.shape);
  CHECK(count(sent.forward, RankGroup::expert_gradients, Exchange::all_gather) == 32);
  CHECK(count(sent.backward, RankGroup::expert_gradients, Exchange::reduce_scatter) == 32);
  const auto gather = std::ranges::find_if(
      sent.forward, [](const PassMessage& message) { return message.group == RankGroup::expert_gradients; });
  REQUIRE(gather != sent.forward.end());
  CHECK(gather->bytes == 2.0 * 2 * static_cast<double>(counts.one_expert));  // two of eight experts, 16 bits
  const auto dense = std::prev(gather);
  CHECK(dense->group == RankGroup::shards);
  CHECK(dense->bytes == 2.0 * static_cast<double>(counts.attention + counts.router));
  // Forward asks a layer ahead: parameters of two layers come before the first counts of tokens.
  const auto counted = std::ranges::find_if(
      sent.forward, [](const PassMessage& message) { return message.exchange == Exchange::all_to_all; });
  CHECK(counted->bytes == 8 * 8);
  CHECK(std::count_if(sent.forward.begin(), counted, [](const PassMessage& message) {
          return message.group == RankGroup::expert_gradients;
        }) == 2);
  // Without a cut there is one message for a layer.
  job.degrees = {.data = 8};
  const ChunkMessages whole = StepOfJob(job).record().chunks.front().messages;
  CHECK(count(whole.forward, RankGroup::expert_gradients, Exchange::all_gather) == 0);
}

TEST_CASE("a loss over chunks gathers norm and head for each use and reduces the head first") {
  LargeModelRun job = job_by(LlmFramework::torchtitan, {.data = 4}, 1);
  job.sharding = ModelSharding::parameters, job.loss_chunks = 8;
  const ChunkMessages sent = StepOfJob(job).record().chunks.front().messages;
  const ParameterCount counts = parameters_of(job.shape);
  const auto head = static_cast<double>(counts.head), norm = static_cast<double>(counts.norm);
  REQUIRE(sent.forward.size() == 7);  // embedding, four layers, and both for norm and for head
  CHECK(sent.forward[5].bytes == 2 * head);
  CHECK(sent.forward[6].bytes == 2 * head);
  CHECK(sent.backward[0].exchange == Exchange::reduce_scatter);
  CHECK(sent.backward[0].bytes == 4 * (head - norm));
  CHECK(sent.backward[1].bytes == 2 * head);
  CHECK(sent.backward[3].bytes == 4 * norm);
}

TEST_CASE("context ranks of torchtitan gather keys and values apart and keep them") {
  const auto sent_by = [](LlmFramework framework, ContextExchange exchange) {
    LargeModelRun job = job_by(framework, {.context = 4}, 1);
    job.context_exchange = exchange;
    return StepOfJob(job).record().chunks.front().messages;
  };
  const ChunkMessages apart = sent_by(LlmFramework::torchtitan, ContextExchange::all_gather);
  CHECK(count(apart.forward, RankGroup::context, Exchange::all_gather) == 2 * 4);
  CHECK(count(apart.backward, RankGroup::context, Exchange::all_gather) == 0);
  CHECK(count(apart.backward, RankGroup::context, Exchange::reduce_scatter) == 2 * 4);
  const ChunkMessages torch = sent_by(LlmFramework::pytorch, ContextExchange::all_gather);
  CHECK(count(torch.backward, RankGroup::context, Exchange::all_gather) == 4);
  CHECK(count(torch.backward, RankGroup::context, Exchange::ring_pass) == 4 * 4);
  const ChunkMessages ring = sent_by(LlmFramework::pytorch, ContextExchange::ring);
  CHECK(count(ring.forward, RankGroup::context, Exchange::ring_pass) == 3 * 4);
  CHECK(count(ring.backward, RankGroup::context, Exchange::ring_pass) == 7 * 4);
}

}  // namespace parallel_framework_messages_test

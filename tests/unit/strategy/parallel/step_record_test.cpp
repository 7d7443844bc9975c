// Steps of a large model as they ran: every pass is there, and the last span ends with the step.
#include <algorithm>
#include <map>

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_step_record_test {

using namespace foretrain;
using test::job_of;
using test::StepOfJob;

namespace {

LargeStepRecord record_of(const Degrees& degrees, std::int64_t micro_batches,
                          LlmFramework framework = LlmFramework::megatron_te) {
  StepOfJob site(job_of(test::four_layers_shape(), degrees, micro_batches));
  site.job.framework = framework;
  return site.record();
}

double last_end(const LargeStepRecord& record) {
  double last = 0;
  for (const StageSpan& span : record.spans) last = std::max(last, span.end_s);
  return last;
}

std::map<char, int> counts_of(const LargeStepRecord& record) {
  std::map<char, int> counts;
  for (const StageSpan& span : record.spans) ++counts[span.work];
  return counts;
}

}  // namespace

TEST_CASE("the last span of a recorded step ends when the step does, with all micro-batches and with a gap") {
  for (const std::int64_t micro_batches : {4, 8, 64}) {
    for (const Degrees& degrees : {Degrees{.data = 2}, {.tensor = 2, .pipeline = 2, .data = 2}}) {
      const LargeStepRecord record = record_of(degrees, micro_batches);
      INFO(to_string(degrees) << ", " << micro_batches << " micro-batches");
      CHECK(last_end(record) == Approx(record.step.step_s).epsilon(1e-9));
      const StepOfJob site(job_of(test::four_layers_shape(), degrees, micro_batches));
      CHECK(record.step.step_s == site.run().step_s);
    }
  }
}

TEST_CASE("a recorded step has a pass each way for every micro-batch and stage, and one update a stage") {
  const LargeStepRecord record = record_of({.pipeline = 4, .data = 2}, 8);
  std::map<char, int> counts = counts_of(record);
  CHECK(record.left_out == 0);
  CHECK(counts['F'] == 32);
  CHECK(counts['B'] == 32);
  CHECK(counts['O'] == 4);
  CHECK(counts['D'] >= 4);
  CHECK(record.messages.size() == 2 * 3 * 8);  // three borders, each way
}

TEST_CASE("passes of a stage do not overlap, and each begins behind the message it needs") {
  const LargeStepRecord record = record_of({.pipeline = 4}, 64);
  CHECK(record.left_out > 0);
  for (int stage = 0; stage < 4; ++stage) {
    std::vector<StageSpan> own;
    for (const StageSpan& span : record.spans)
      if (span.stage == stage && span.work != 'D') own.push_back(span);
    std::ranges::sort(own, {}, &StageSpan::begin_s);
    for (std::size_t i = 1; i < own.size(); ++i) CHECK(own[i].begin_s >= own[i - 1].end_s - 1e-9);
  }
  for (const StageMessage& message : record.messages) {
    CHECK(message.end_s > message.begin_s);
    CHECK(message.end_s - message.begin_s ==
          Approx(record.messages.front().end_s - record.messages.front().begin_s));
    const auto needs = std::ranges::find_if(record.spans, [&](const StageSpan& span) {
      return span.stage == message.to && span.micro_batch == message.micro_batch &&
             span.work == (message.is_forward ? 'F' : 'B');
    });
    if (needs != record.spans.end()) CHECK(needs->begin_s >= message.end_s - 1e-9);
  }
}

TEST_CASE("the last micro-batch's backward pass is whole though its gradients leave in pieces") {
  const LargeStepRecord record = record_of({.data = 8}, 2);
  double first = 0, last = 0;
  for (const StageSpan& span : record.spans) {
    if (span.work != 'B') continue;
    (span.micro_batch == 0 ? first : last) = span.end_s - span.begin_s;
  }
  CHECK(first > 0);
  CHECK(last >= first * (1 - 1e-9));  // exchanges beside it take their share of the GPU
}

TEST_CASE("what a pass is made of lies within it, and its kernels are as long as its compute") {
  const LargeStepRecord record = record_of({.tensor = 4, .pipeline = 2}, 8);
  REQUIRE(record.chunks.size() == 2);
  for (const RecordedChunk& chunk : record.chunks) {
    double kernels = 0, tensor = 0;
    for (const PassSpan& span : chunk.spans.forward) {
      CHECK(span.begin_s >= 0);
      CHECK(span.end_s <= chunk.forward.total * (1 + 1e-9));
      (span.charge == PassCharge::compute ? kernels : tensor) += span.end_s - span.begin_s;
    }
    CHECK(kernels == Approx(chunk.forward.compute).epsilon(1e-3));
    CHECK(tensor >= chunk.forward.tensor * (1 - 1e-3));
  }
}

TEST_CASE("a long chunk's spans are all its layers, as long together as its passes") {
  StepOfJob site(job_of(test::llama3_8b_shape(), {.tensor = 8}, 4));
  const LargeStepRecord record = site.record();
  const RecordedChunk& chunk = record.chunks.front();
  const auto attentions = std::ranges::count(chunk.spans.forward, "attention", &PassSpan::name);
  CHECK(attentions == 32);
  double last = 0;
  for (const PassSpan& span : chunk.spans.forward) last = std::max(last, span.end_s);
  CHECK(last == Approx(chunk.forward.total).epsilon(1e-6));
}

TEST_CASE("a chunk with dense and expert layers repeats the latter: a layer more costs the same each time") {
  const auto step_of = [](int layers) {
    TransformerShape shape = test::deepseek_v3_shape();
    shape.layers = layers;
    LargeModelRun job = job_of(shape, {.expert = 8, .data = 8}, 2);
    return StepOfJob(job).run().compute_s;
  };
  const double ten = step_of(10), fourteen = step_of(14), eighteen = step_of(18);
  CHECK(eighteen - fourteen == Approx(fourteen - ten).epsilon(0.01));
}

}  // namespace parallel_step_record_test

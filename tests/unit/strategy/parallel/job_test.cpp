// Jobs of large models: what degrees become on some GPUs, and every mistake in them.
#include "sim/strategy/parallel/job.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"

namespace parallel_job_test {

using namespace foretrain;

namespace {

LargeModelRun llama(const Degrees& degrees, std::int64_t micro_batches = 8) {
  return test::job_of(test::llama3_8b_shape(), degrees, micro_batches);
}

/// The one fault there is, as "key: message (hint)"; all keys where there are more.
std::string fault_of(const LargeModelRun& job, int gpus) {
  const std::vector<JobFault> faults = faults_of(job, gpus);
  std::string keys;
  for (const JobFault& fault : faults) keys += (keys.empty() ? "" : ", ") + fault.key;
  if (faults.size() != 1) return keys;
  return faults[0].key + ": " + faults[0].message + " (" + faults[0].hint + ")";
}

}  // namespace

TEST_CASE("a job that divides has no faults") {
  CHECK(fault_of(llama({}), 1).empty());
  CHECK(fault_of(llama({.tensor = 8, .pipeline = 4, .context = 2, .data = 2}), 128).empty());
  CHECK(fault_of(llama({.tensor = 2, .pipeline = 4, .virtual_stages = 8, .data = 2}), 16).empty());
  CHECK(fault_of(llama({.tensor = 32}), 32).empty());  // 8 heads of keys, each on four ranks
  const LargeModelRun mixtral =
      test::job_of(test::mixtral_8x7b_shape(), {.tensor = 2, .expert = 8, .expert_tensor = 2, .data = 8}, 4);
  CHECK(fault_of(mixtral, 16).empty());
}

TEST_CASE("degrees that do not make the GPUs are a fault of data, with what would do") {
  CHECK(fault_of(llama({.tensor = 4, .data = 2}), 16) ==
        "data: TP 4 x DP 2 takes 8 GPUs, not 16 (data = 4, or none: it is what the GPUs leave)");
  CHECK(fault_of(llama({.tensor = 4, .pipeline = 2, .data = 2}), 12) ==
        "data: TP 4 x PP 2 x DP 2 takes 16 GPUs, not 12 (tensor x pipeline x context = 8 has to divide 12)");
}

TEST_CASE("heads, and what is inside the feed-forward part, divide by tensor") {
  CHECK(fault_of(llama({.tensor = 3}), 3) == "tensor, tensor, tensor");
  LargeModelRun wide = llama({.tensor = 64});
  CHECK(fault_of(wide, 64) == "tensor: 32 heads do not divide by tensor = 64 (a divisor of 32)");
  LargeModelRun groups = llama({.tensor = 4});
  groups.shape.kv_heads = 6;
  CHECK(fault_of(groups, 4) == "tensor: 6 heads of keys do not divide by tensor = 4 (a divisor of 6)");
  LargeModelRun inner = llama({.tensor = 4});
  inner.shape.inner = 14338;
  CHECK(fault_of(inner, 4) ==
        "tensor: 14338 values inside the feed-forward part do not divide by tensor = 4 (a divisor of 14338)");
}

TEST_CASE("stages have a layer each at least, and so have chunks") {
  CHECK(fault_of(llama({.pipeline = 64}), 64) == "pipeline: 32 layers make no 64 stages (at most 32)");
  CHECK(fault_of(llama({.pipeline = 8, .virtual_stages = 5}), 8) ==
        "virtual_stages: 32 layers make no 8 x 5 chunks (fewer chunks)");
}

TEST_CASE("interleaving needs its schedule, stages, and whole groups of micro-batches") {
  CHECK(fault_of(llama({.pipeline = 4, .virtual_stages = 2}, 10), 4) ==
        "virtual_stages: 10 micro-batches do not come in groups of 4 stages (a number of micro-batches that "
        "divides by pipeline)");
  CHECK(fault_of(llama({.virtual_stages = 2}), 1) ==
        "virtual_stages: one stage has nothing to interleave (pipeline of at least 2)");
  LargeModelRun plain = llama({.pipeline = 4, .virtual_stages = 2});
  plain.schedule = PipelineSchedule::one_f_one_b;
  CHECK(fault_of(plain, 4) ==
        "virtual_stages: schedule 1f1b has one chunk a stage (schedule = \"interleaved\")");
}

TEST_CASE("experts divide by expert, and their ranks are among those of a stage") {
  LargeModelRun job = test::job_of(test::mixtral_8x7b_shape(), {.expert = 16, .data = 16}, 1);
  CHECK(fault_of(job, 16) == "expert: 8 experts do not divide by expert = 16 (a divisor of 8)");
  job = test::job_of(test::mixtral_8x7b_shape(), {.expert = 8, .data = 4}, 1);
  CHECK(fault_of(job, 4) ==
        "expert: 4 ranks that share a stage do not divide by expert = 8 (a divisor of 4)");
  CHECK(fault_of(llama({.expert = 2, .data = 2}), 2) ==
        "expert: the network has no experts (leave the key out)");
}

TEST_CASE("a sequence divides by context, and heads do where Ulysses deals them out") {
  CHECK(fault_of(llama({.context = 3}), 3) ==
        "context: 4096 tokens of a sequence do not divide by context = 3 (a divisor of 4096)");
  LargeModelRun job = llama({.tensor = 8, .context = 8});
  CHECK(fault_of(job, 64).empty());
  job.context_exchange = ContextExchange::ulysses;
  CHECK(fault_of(job, 64) == "context: 32 heads do not divide by context = 64 (a divisor of 32)");
}

TEST_CASE("a batch divides into micro-batches, and ranks into groups of shards") {
  LargeModelRun job = llama({.data = 4});
  job.global_batch = 30;
  CHECK(fault_of(job, 4) ==
        "global_batch: 30 sequences of a step do not divide by global_batch = 4 (a divisor of 30)");
  job.global_batch = 32, job.shard_group = 3;
  CHECK(fault_of(job, 4) ==
        "shard_group: 4 data-parallel ranks do not divide by shard_group = 3 (a divisor of 4)");
}

TEST_CASE("gradients that are shared out leave a pipeline nothing to accumulate in") {
  LargeModelRun job = llama({.pipeline = 4, .data = 2});
  job.sharding = ModelSharding::gradients;
  CHECK_THAT(fault_of(job, 8), ContainsSubstring("shard: gradients that are shared out"));
  job.degrees = {.data = 8}, job.global_batch = 64;
  CHECK(fault_of(job, 8).empty());
}

TEST_CASE("numbers that mean nothing are the only faults told") {
  LargeModelRun job = llama({.tensor = 0, .pipeline = -1});
  job.sequence = 0;
  CHECK(fault_of(job, 3) == "tensor, pipeline, sequence");
  job = llama({.tensor = 1 << 21});
  CHECK(fault_of(job, 1) == "tensor: tensor is 2097152 (1 to 65536)");
}

TEST_CASE("degrees whose product is no number of GPUs are a fault, not an overflow") {
  LargeModelRun job = llama({.tensor = 1 << 16, .pipeline = 1 << 16});
  job.global_batch = 1;
  CHECK_FALSE(faults_of(job, 8).empty());
}

TEST_CASE("on some GPUs data is what they leave, and a batch four micro-batches a stage, rounded up") {
  LargeModelRun asked = llama({.tensor = 4, .pipeline = 2});
  asked.degrees.data = 0, asked.global_batch = 0, asked.micro_batch = 2;
  const LargeModelRun job = job_on(asked, 32);
  CHECK(job.degrees.data == 4);
  CHECK(job.global_batch == 2 * 4 * 4 * 2);  // micro-batch x replicas x four for each of two stages
  asked.global_batch = 60;
  CHECK(job_on(asked, 32).global_batch == 64);  // turns of 2 x 4
  asked.schedule = PipelineSchedule::interleaved, asked.degrees.virtual_stages = 2;
  CHECK(job_on(asked, 32).global_batch == 64);  // turns of 2 x 4 x 2 stages
  asked.global_batch = 65;
  CHECK(job_on(asked, 32).global_batch == 80);
}

TEST_CASE("a job runs on as many GPUs as its replicas take, and on no others") {
  LargeModelRun asked = llama({.tensor = 8, .pipeline = 4, .virtual_stages = 2});
  asked.degrees.data = 0;
  CHECK(fewest_gpus_of(asked) == 32);
  CHECK(runs_on(asked, 64));
  CHECK_FALSE(runs_on(asked, 1));
  CHECK_FALSE(runs_on(asked, 48));
}

TEST_CASE("degrees are written without those of one") {
  CHECK(to_string(Degrees{}) == "DP 1");
  CHECK(to_string(Degrees{.data = 8}) == "DP 8");
  CHECK(to_string(
            Degrees{.tensor = 8, .pipeline = 4, .virtual_stages = 2, .context = 2, .expert = 8, .data = 1}) ==
        "TP 8 x CP 2 x PP 4 x VP 2 x EP 8");
}

TEST_CASE("tensor ranks over nodes and few micro-batches are told of") {
  CHECK(warnings_of(llama({.tensor = 8, .pipeline = 2}), 8).empty());
  const auto wide = warnings_of(llama({.tensor = 16}), 8);
  REQUIRE(wide.size() == 1);
  CHECK_THAT(wide[0], ContainsSubstring("tensor = 16 spans 2 nodes of 8 GPUs"));
  // Four stages and four micro-batches: 3 of 7 turns.
  const auto few = warnings_of(llama({.pipeline = 4}, 4), 8);
  REQUIRE(few.size() == 1);
  CHECK_THAT(few[0],
             ContainsSubstring("4 micro-batches fill a pipeline of 4 stages badly: stages wait 43 %"));
}

}  // namespace parallel_job_test

// What the end of a step costs each stage, added up by hand: bytes of the optimizer through memory, buckets
// of gradients, gathered weights, and exchanges that nothing hides.
#include <algorithm>
#include <cmath>

#include "sim/strategy/parallel/chunk_timing.hpp"
#include "sim/strategy/parallel/pipeline_graph.hpp"
#include "sim/strategy/parallel/stage_memory.hpp"
#include "sim/workload/device/traffic_time.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_pipeline_costs_test {

using namespace foretrain;
using test::job_of;
using test::StepOfJob;

namespace {

/// A job's costs, and the exchanges that they are made of.
struct Priced {
  explicit Priced(const StepOfJob& asked)
      : site(asked),
        cluster(Cluster::build(site.spec, site.spec.nodes)),
        collectives(cluster),
        exchanges(site.job, cluster, site.ranks, site.collective, collectives),
        timer({site.job, cluster, site.device, exchanges, 1, 1}) {
    const LargeStepRequest request{site.job,        cluster,     site.ranks, site.device,
                                   site.collective, collectives, false};
    costs = pipeline_costs(site.job, request, exchanges, timer);
  }
  Priced(const Priced&) = delete;

  double moved_s(double bytes) const { return memory_seconds(bytes, site.spec.node.gpu, site.device.kernel); }
  StageParameters held(std::size_t chunk) const {
    return stage_parameters(site.job, costs.chunks[chunk].chunk);
  }

  StepOfJob site;
  Cluster cluster;
  ClusterCollectives collectives;
  GroupExchanges exchanges;
  ChunkTimer timer;
  PipelineCosts costs;
};

StepOfJob four_layers(const Degrees& degrees, ModelSharding sharding = ModelSharding::none,
                      LlmFramework framework = LlmFramework::megatron_te) {
  StepOfJob site(job_of(test::four_layers_shape(), degrees, 4));
  site.job.sharding = sharding, site.job.framework = framework;
  return site;
}

StepOfJob experts(const Degrees& degrees) {
  StepOfJob site(job_of(test::with_experts(test::four_layers_shape(), 8, 2, 14336), degrees, 4));
  site.job.sharding = ModelSharding::optimizer;
  return site;
}

/// Adam with fp32 masters: gradient, master and two moments read, these and the 16-bit weight written.
constexpr double kAdam = 4 + 12 + 12 + 2;

}  // namespace

TEST_CASE("a message between stages is two bytes of every token's state that a rank has") {
  CHECK(Priced(four_layers({.pipeline = 2})).costs.message_bytes == 2.0 * 4096 * 4096);
  CHECK(Priced(four_layers({.tensor = 2, .pipeline = 2})).costs.message_bytes == 2.0 * 2048 * 4096);
  StepOfJob whole = four_layers({.tensor = 2, .pipeline = 2});
  whole.job.sequence_parallel = false;
  CHECK(Priced(whole).costs.message_bytes == 2.0 * 4096 * 4096);
}

TEST_CASE("the optimizer moves 30 bytes of each parameter that it updates, its norm 4, zeros 4 of all") {
  const Priced alone(four_layers({}));
  const double all = alone.held(0).all();
  CHECK(alone.costs.stages[0].optimizer_s ==
        Approx(alone.moved_s(kAdam * all) + alone.moved_s(4 * all) + alone.moved_s(4 * all)));
  const Priced shared(four_layers({.data = 8}, ModelSharding::optimizer));
  CHECK(shared.costs.stages[0].optimizer_s ==
        Approx(shared.moved_s(kAdam * all / 8) + shared.moved_s(4 * all / 8) + shared.moved_s(4 * all)));
  const Priced sharded(four_layers({.data = 8}, ModelSharding::parameters));
  CHECK(sharded.costs.stages[0].optimizer_s ==
        Approx(sharded.moved_s(kAdam * all / 8) + 2 * sharded.moved_s(4 * all / 8)));
  const Priced nanotron(four_layers({.data = 8}, ModelSharding::optimizer, LlmFramework::nanotron));
  CHECK(nanotron.costs.stages[0].optimizer_s ==
        Approx(nanotron.moved_s(kAdam * all / 8) + 2 * nanotron.moved_s(4 * all)));
}

TEST_CASE("experts' parameters are shared out among the ranks that have the same experts") {
  for (const auto& [expert, sharers] : {std::pair{8, 1.0}, {2, 4.0}}) {
    const Priced mixture(experts({.expert = expert, .data = 8}));
    const StageParameters held = mixture.held(0);
    const double updated = held.dense / 8 + held.expert / sharers;
    CHECK(mixture.costs.stages[0].optimizer_s ==
          Approx(mixture.moved_s(kAdam * updated) + mixture.moved_s(4 * updated) +
                 mixture.moved_s(4 * held.all())));
  }
}

TEST_CASE("an optimizer on the host moves the same bytes through as much memory as its rank's cores fill") {
  StepOfJob site = four_layers({});
  const double on_gpu = Priced(site).costs.stages[0].optimizer_s;
  site.job.offload = Offload::optimizer;
  site.spec.node.host.memory_bandwidth = {10e9};
  for (const auto& [cores, used] :
       {std::pair{16, 2}, {8, 1}, {4, 1}, {64, 4}}) {  // of eight GPUs; four fill it
    site.spec.node.host.cores = cores;
    const Priced priced(site);
    CHECK(priced.costs.stages[0].optimizer_s - on_gpu ==
          Approx(kAdam * priced.held(0).all() / (10e9 * used)));
  }
}

TEST_CASE("Megatron-LM cuts the first chunk's gradients into buckets, others' are one") {
  const Priced priced(four_layers({.pipeline = 2, .data = 8}));
  const double first = priced.held(0).all();
  CHECK(priced.costs.chunks[0].buckets == static_cast<int>(std::ceil(first / 40e6)));
  CHECK(priced.costs.chunks[1].buckets == 1);
  for (std::size_t i = 0; i < 2; ++i) {
    const int buckets = priced.costs.chunks[i].buckets;
    Priced again(priced.site);
    const double one =
        again.exchanges.at(RankGroup::gradients, Exchange::all_reduce, 4 * priced.held(i).all() / buckets)
            .seconds;
    CHECK(priced.costs.stages[i].gradients_s == Approx(buckets * one));
    CHECK(priced.costs.stages[i].messages == buckets);
    CHECK(priced.costs.stages[i].gpu_share > 0);
  }
}

TEST_CASE("nanotron sums gradients by DDP's buckets of 12.5 million, on every stage") {
  const Priced priced(four_layers({.pipeline = 2, .data = 8}, ModelSharding::none, LlmFramework::nanotron));
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(priced.costs.chunks[i].buckets == static_cast<int>(std::ceil(priced.held(i).all() / 12.5e6)));
}

TEST_CASE(
    "updated weights come back in 16 bit behind the step, with Megatron-LM behind the next forward pass") {
  Priced plain(four_layers({.data = 8}, ModelSharding::optimizer, LlmFramework::nanotron));
  const double all = plain.held(0).dense;
  const double gather = plain.exchanges.at(RankGroup::gradients, Exchange::all_gather, 2 * all).seconds;
  CHECK(plain.costs.stages[0].behind_s == Approx(gather));
  Priced megatron(four_layers({.data = 8}, ModelSharding::optimizer));
  const double whole = megatron.exchanges.at(RankGroup::gradients, Exchange::all_gather, 2 * all).seconds;
  const double first = whole * 40e6 / all, rest = whole - megatron.costs.chunks[0].time.forward.total;
  CHECK(megatron.costs.stages[0].behind_s == Approx(std::max(first, rest)));
  CHECK(Priced(four_layers({.data = 8})).costs.stages[0].behind_s == 0);
  CHECK(Priced(four_layers({.data = 8}, ModelSharding::parameters)).costs.stages[0].behind_s == 0);
}

TEST_CASE("experts' weights come back among the ranks that have the same ones") {
  StepOfJob site = experts({.expert = 2, .data = 8});
  site.job.framework = LlmFramework::nanotron;
  Priced mixture(site);
  const StageParameters held = mixture.held(0);
  const double dense =
      mixture.exchanges.at(RankGroup::gradients, Exchange::all_gather, 2 * held.dense).seconds;
  const double expert =
      mixture.exchanges.at(RankGroup::expert_gradients, Exchange::all_gather, 2 * held.expert).seconds;
  CHECK(mixture.costs.stages[0].behind_s == Approx(dense + expert));
}

TEST_CASE("both ends of a pipeline sum the gradients of a tied matrix, tensor ranks those of their norms") {
  StepOfJob tied(job_of(test::four_layers_shape(), {.tensor = 2, .pipeline = 2}, 4));
  tied.job.shape.tied = true, tied.job.sequence_parallel = false, tied.job.sharding = ModelSharding::none;
  Priced ends(tied);
  const double matrix =
      ends.exchanges.at(RankGroup::ends, Exchange::all_reduce, 4.0 * 128256 * 4096 / 2).seconds;
  CHECK(ends.costs.stages[0].behind_s == Approx(matrix));
  CHECK(ends.costs.stages[1].behind_s == Approx(matrix));
  Priced norms(four_layers({.tensor = 2}));
  CHECK(
      norms.costs.stages[0].behind_s ==
      Approx(norms.exchanges.at(RankGroup::tensor, Exchange::all_reduce, 4.0 * (2 * 4 + 1) * 4096).seconds));
}

TEST_CASE(
    "of a micro-batch's chunks only the last sends nothing forward and only the first nothing backward") {
  StepOfJob site =
      four_layers({.pipeline = 2, .virtual_stages = 2}, ModelSharding::none, LlmFramework::nanotron);
  site.job.schedule = PipelineSchedule::afab;
  const Priced priced(site);
  const std::vector<PricedChunk>& chunks = priced.costs.chunks;
  REQUIRE(chunks.size() == 4);
  REQUIRE(priced.costs.message_s > 0);
  for (std::size_t i = 0; i < 4; ++i) {
    INFO("chunk " << i << " on stage " << chunks[i].chunk.stage);
    CHECK(chunks[i].forward_wait_s == (i < 3 ? priced.costs.message_s : 0));
    CHECK(chunks[i].backward_wait_s == (i > 0 ? priced.costs.message_s : 0));
    CHECK((chunks[i].backward_host_s > 0) == (i > 0));
  }
}

}  // namespace parallel_pipeline_costs_test

// Passes of one micro-batch through a chunk of layers: what they are made of, and what lengthens them.
#include "sim/strategy/parallel/chunk_timing.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_chunk_timing_test {

using namespace foretrain;
using test::job_of;
using test::StepOfJob;

namespace {

struct Factors {
  double kernel = 1, host = 1;
};

/// The first chunk of a job.
ChunkTime time_of(const StepOfJob& site, bool from_idle = false, const Factors& factors = {}) {
  const Cluster cluster = Cluster::build(site.spec, site.spec.nodes);
  ClusterCollectives collectives(cluster);
  GroupExchanges exchanges(site.job, cluster, site.ranks, site.collective, collectives,
                           site.device.communication_time_scale);
  ChunkTimer timer({site.job, cluster, site.device, exchanges, factors.kernel, factors.host});
  return timer.at(stage_chunks(site.job).front(), from_idle);
}

StepOfJob layers(const Degrees& degrees, LlmFramework framework = LlmFramework::megatron_te) {
  StepOfJob site(job_of(test::four_layers_shape(), degrees, 4));
  site.job.framework = framework;
  return site;
}

double sum_of(const PassTime& pass) {
  return pass.compute + pass.host + pass.tensor + pass.context + pass.expert + pass.data;
}

}  // namespace

TEST_CASE("the parts of a pass sum to it") {
  for (const Degrees& degrees : {Degrees{}, {.tensor = 8}, {.context = 4}, {.data = 8}}) {
    for (const bool from_idle : {true, false}) {
      StepOfJob site = layers(degrees);
      if (degrees.data > 1) site.job.sharding = ModelSharding::parameters;
      const ChunkTime time = time_of(site, from_idle);
      INFO(to_string(degrees));
      CHECK(sum_of(time.forward) == Approx(time.forward.total));
      CHECK(sum_of(time.backward) == Approx(time.backward.total));
    }
  }
}

TEST_CASE("compute of a pass is no shorter than its FLOPs at the GPU's peak") {
  const ChunkTime time = time_of(layers({}));
  const double peak = 989.4e12;
  const double forward = forward_flops_per_token(test::four_layers_shape(), 4096, true) * 4096;
  CHECK(time.flops == Approx(3 * forward).epsilon(0.02));
  CHECK(time.forward.compute > forward / peak);
  CHECK(time.forward.compute < 2.5 * forward / peak);
  CHECK(time.backward.compute / time.forward.compute == Approx(2).margin(0.4));
}

// nanotron's layer scatters the results of both row layers, and backward the gradients of both column inputs.
TEST_CASE("launches and what is scattered are counted, layer after layer") {
  const auto counted = [](int count) {
    StepOfJob site = layers({.tensor = 8}, LlmFramework::nanotron);
    site.job.shape.layers = count;
    return time_of(site);
  };
  const ChunkTime two = counted(2), three = counted(3), ten = counted(10);
  const double bytes = 2.0 * 4096 * 4096;  // tokens x width
  CHECK(three.scattered_bytes - two.scattered_bytes == Approx(4 * bytes));
  CHECK(ten.scattered_bytes == Approx(two.scattered_bytes + 8 * 4 * bytes));
  CHECK(ten.launches == Approx(two.launches + 8 * (three.launches - two.launches)));
  CHECK(three.launches - two.launches > 50);
}

TEST_CASE("exchanges of tensor ranks are charged to them, forward ones exposed") {
  const ChunkTime time = time_of(layers({.tensor = 8}));
  CHECK(time.forward.tensor > 0);
  CHECK(time.forward.context + time.forward.expert + time.forward.data == 0);
  StepOfJob hidden = layers({.tensor = 8});
  hidden.job.tensor_overlap = TensorOverlap::pieces;
  CHECK(time_of(hidden).forward.tensor < time.forward.tensor);
  StepOfJob none = layers({.tensor = 8});
  none.job.tensor_overlap = TensorOverlap::none;
  CHECK(time_of(none).backward.tensor > time.backward.tensor);
}

TEST_CASE("sharded parameters are gathered for both passes, one layer ahead") {
  StepOfJob site = layers({.data = 8});
  site.job.sharding = ModelSharding::parameters;
  site.job.micro_batch = 4, site.job.global_batch = 32;
  const ChunkTime inside = time_of(site);
  const StepOfJob held = [&] {
    StepOfJob other = site;
    other.job.sharding = ModelSharding::optimizer;
    return other;
  }();
  CHECK(time_of(held).forward.data == 0);
  // Gathered beside a layer of 16,384 tokens: NVLink hides all but the first.
  CHECK(inside.forward.data < 0.1 * inside.forward.total);
  site.device.communication_time_scale = 100;
  const ChunkTime slow = time_of(site);
  CHECK(slow.forward.data + slow.backward.data > 10 * (inside.forward.data + inside.backward.data));
}

TEST_CASE("a host that begins with the pass delays it, one that runs ahead does not") {
  const StepOfJob site = layers({});
  const ChunkTime ahead = time_of(site), idle = time_of(site, true);
  CHECK(idle.forward.host > ahead.forward.host);
  CHECK(idle.forward.total > ahead.forward.total);
  CHECK(ahead.forward.host < 0.01 * ahead.forward.total);
}

TEST_CASE("short passes take as long as their host needs") {
  StepOfJob site = layers({.tensor = 8});
  site.job.sequence = 256;
  const ChunkTime time = time_of(site);
  CHECK(time.forward.total + time.backward.total >= 0.9 * time.issue_s);
  CHECK(time.forward.host > time.forward.compute);
  const ChunkTime slower = time_of(site, false, {.host = 2});
  CHECK(slower.issue_s == Approx(2 * time.issue_s));
  CHECK(slower.forward.total > 1.5 * time.forward.total);
  site.job.cuda_graphs = true;
  CHECK(time_of(site).issue_s == 0);
}

TEST_CASE("slower kernels lengthen what is computed alone") {
  const StepOfJob site = layers({.tensor = 8});
  const ChunkTime usual = time_of(site), slower = time_of(site, false, {.kernel = 1.5});
  CHECK(slower.forward.compute == Approx(1.5 * usual.forward.compute).epsilon(0.02));
  CHECK(slower.forward.tensor == Approx(usual.forward.tensor).epsilon(0.05));
}

TEST_CASE("weight gradients are about half of backward, nothing of an attention's") {
  const ChunkTime time = time_of(layers({}));
  CHECK(time.weight_share > 0.35);
  CHECK(time.weight_share < 0.55);
}

TEST_CASE("frameworks that launch more take longer where the host sets the pace") {
  const auto issue_s = [](LlmFramework framework) {
    return time_of(layers({.tensor = 8}, framework)).issue_s;
  };
  CHECK(issue_s(LlmFramework::nanotron) > 2 * issue_s(LlmFramework::megatron_te));
  CHECK(issue_s(LlmFramework::maxtext) < issue_s(LlmFramework::torchtitan));
}

TEST_CASE("parameters of a layer with experts are those of its rank's experts") {
  LargeModelRun job = job_of(test::mixtral_8x7b_shape(), {.tensor = 2, .expert = 4, .data = 4}, 1);
  const ParameterCount count = parameters_of(job.shape);
  CHECK(dense_parameters(job, count, false) == static_cast<double>(count.attention + count.dense));
  // Eight experts over four ranks, times the two tensor ranks that divide what is dense.
  CHECK(dense_parameters(job, count, true) ==
        static_cast<double>(count.attention + count.router + 2 * 2 * count.one_expert));
}

}  // namespace parallel_chunk_timing_test

// Gradients of looked-up tables: which are rows, how many bytes they are, and how all ranks get them.
#include "sim/strategy/horovod/horovod_sparse.hpp"

#include "sim/strategy/horovod/horovod_options.hpp"
#include "sim/strategy/horovod/horovod_thread.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace horovod_sparse_test {

using namespace foretrain;
using test::plan_of;
using test::Ran;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

// 16 tokens, width 32, 1000 words, one block; per rank 8 samples: 8 x 16 rows of 32 floats are 16,384 bytes,
// their indices 1,024.
constexpr std::int64_t kValues = 8 * 16 * 32 * 4, kIndices = 8 * 16 * 8;

SmallPlan words(int gpus, const Model& model = test::encoder(1, 16, 32, 2, 1000)) {
  SmallPlan small(model, 8);
  small.spec = test::pcie_cluster(2, 4);
  small.gpus = gpus;
  small.workload.framework = usual_framework(FrameworkKind::tensorflow);
  return small;
}

std::vector<std::optional<SparseGradient>> sparse_of(const SmallPlan& small) {
  const Placement placement = place_packed(small.gpus, small.spec.node.gpus);
  const Cluster cluster = Cluster::build(small.spec, placement.nodes);
  return sparse_gradients({small.workload, cluster, placement, small.knobs, small.device});
}

std::size_t count_of(const SmallPlan& small) {
  std::size_t count = 0;
  for (const auto& gradient : sparse_of(small)) count += gradient.has_value() ? 1 : 0;
  return count;
}

std::vector<TaskId> collectives(const Plan& plan, std::string_view label) {
  return tasks_labelled(plan.graph, TaskKind::collective, label);
}

Model with_tied_head() {
  Model model = test::encoder(1, 16, 32, 2, 1000);
  model.layers.front().weights = "words";
  for (Layer& layer : model.layers) {
    if (layer.type->name == "linear" && test::number_of(layer, "out") == 1000)
      layer.weights = "words", test::set(layer, "bias", false);
  }
  return model;
}

std::string choice(const Plan& plan) {
  for (const Decision& decision : plan.decisions.list()) {
    if (decision.subject == "sparse gradients") return decision.choice + ": " + decision.why;
  }
  return "";
}

}  // namespace

TEST_CASE("a table's gradient is one row and one index per look-up of the batch") {
  const auto gradients = sparse_of(words(4));
  REQUIRE(gradients.front().has_value());
  CHECK(gradients.front()->values.count == kValues);
  CHECK(gradients.front()->indices.count == kIndices);
  CHECK(count_of(words(4)) == 1);
}

TEST_CASE("gradients are dense in PyTorch, with sparse_as_dense, and where a product uses the table too") {
  SmallPlan torch = words(4), dense = words(4);
  torch.workload.framework = usual_framework(FrameworkKind::pytorch);
  dense.knobs.edit<HorovodOptions>().sparse_as_dense = true;
  CHECK(count_of(torch) == 0);
  CHECK(count_of(dense) == 0);
  CHECK(count_of(words(4, with_tied_head())) == 0);
  CHECK(count_of(words(4, test::mnist_net())) == 0);
}

TEST_CASE(
    "NCCL gathers values and indices of all ranks once a step, and the table leaves the reduced messages") {
  SmallPlan rows = words(4), whole = words(4);
  whole.knobs.edit<HorovodOptions>().sparse_as_dense = true;
  const Plan sparse = plan_of(rows, "horovod"), dense = plan_of(whole, "horovod");
  const auto values = collectives(sparse, "all_gather of sparse values"),
             indices = collectives(sparse, "all_gather of sparse indices");
  REQUIRE(values.size() == 5);
  REQUIRE(indices.size() == 5);
  CHECK(sparse.graph.tasks()[values.front()].traffic.count == 4 * kValues);
  CHECK(sparse.graph.tasks()[indices.front()].traffic.count == 4 * kIndices);
  CHECK(std::count(sparse.buckets.begin(), sparse.buckets.end(), Bytes{4 * (kValues + kIndices)}) == 1);
  std::int64_t reduced = 0, of_dense = 0, of_sparse = 0;
  for (const TaskId id : collectives(sparse, "all_reduce message"))
    reduced += sparse.graph.tasks()[id].traffic.count;
  for (const Bytes bucket : sparse.buckets) of_sparse += bucket.count;
  for (const Bytes bucket : dense.buckets) of_dense += bucket.count;
  CHECK(5 * (of_sparse - 4 * (kValues + kIndices)) == reduced);
  CHECK(of_dense - of_sparse == 4 * 1000 * 32 - 4 * (kValues + kIndices));
  CHECK(collectives(dense, "all_gather").empty());
  CHECK_THAT(choice(sparse),
             ContainsSubstring("NCCL all-gather") && ContainsSubstring("17.4 kB of each rank go to all 4"));
  CHECK(choice(dense).empty());
}

TEST_CASE("the other ranks' rows are added on the compute stream before the optimizer") {
  const Ran ran = run_plan(words(4), "horovod");
  const auto added = tasks_labelled(ran.plan.graph, TaskKind::kernel, "add gathered rows");
  REQUIRE(added.size() == 5);
  CHECK(ran.plan.graph.tasks()[added.back()].queue ==
        ran.plan.graph.tasks()[ran.plan.step_ends.back()].queue);
  CHECK(ran.timeline.spans[added.back()].start >
        ran.timeline.end_of(collectives(ran.plan, "all_gather of sparse indices").back()));
  CHECK(ran.timeline.end_of(added.back()) < ran.timeline.end_of(ran.plan.step_ends.back()));
}

TEST_CASE("what is gathered grows with the number of ranks and stays in memory") {
  for (const int gpus : {2, 4, 8}) {
    SmallPlan rows = words(gpus), whole = words(gpus);
    whole.knobs.edit<HorovodOptions>().sparse_as_dense = true;
    const StrategyMemory gathered = plan_of(rows, "horovod").memory;
    CHECK(gathered.per_sample.count * rows.workload.batch_per_gpu == gpus * (kValues + kIndices));
    CHECK(gathered.buffers == plan_of(whole, "horovod").memory.buffers);
  }
}

TEST_CASE("what Horovod holds is the same for every batch, as bytes of a sample and bytes besides") {
  SmallPlan rows = words(4);
  const StrategyMemory memory = plan_of(rows, "horovod").memory;
  for (const std::int64_t batch : {1, 7, 4096}) {
    rows.workload.batch_per_gpu = batch;
    CHECK(plan_of(rows, "horovod").memory == memory);
  }
}

TEST_CASE("rows are never compressed") {
  SmallPlan small = words(4);
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  const Plan plan = plan_of(small, "horovod");
  CHECK(plan.graph.tasks()[collectives(plan, "all_gather of sparse values").front()].traffic.count ==
        4 * kValues);
  const std::size_t dense = small.workload.model->parameters.size() - 1;
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "compress gradient").size() == 5 * dense);
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "decompress gradient").size() == 5 * dense);
}

TEST_CASE(
    "before 0.20 the background thread runs MPI in host memory, between a copy out and a copy in of all "
    "rows") {
  SmallPlan small = words(8);
  small.knobs.edit<HorovodOptions>().horovod_version = FrameworkVersion{0, 19};
  const Ran ran = run_plan(small, "horovod");
  const auto copies =
      tasks_labelled(ran.plan.graph, TaskKind::copy, "copy of sparse gradients over host memory");
  const auto gathers = tasks_labelled(ran.plan.graph, TaskKind::copy, "MPI all_gather of sparse gradients");
  REQUIRE(gathers.size() == 5);
  REQUIRE(copies.size() == 10);
  CHECK(collectives(ran.plan, "all_gather").empty());
  CHECK(ran.plan.graph.tasks()[copies[0]].traffic.count == kValues + kIndices);
  CHECK(ran.plan.graph.tasks()[copies[1]].traffic.count == 2 * 8 * (kValues + kIndices));  // staged
  CHECK(ran.timeline.spans[gathers[4]].start > ran.timeline.end_of(copies[8]));
  CHECK(ran.timeline.spans[copies[9]].start >= ran.timeline.end_of(gathers[4]));
  CHECK_THAT(choice(ran.plan), ContainsSubstring("MPI all-gather over the CPUs"));
}

TEST_CASE("MPI's ring passes the other ranks' rows over every hop, at the pace of the slowest one") {
  // Two nodes of four: two of the eight hops leave a node. 4096 times the rows above are 71.3 MB per rank. A
  // core copies 10 GB/s, so a NIC of 12.3 GB/s waits for it, one of 5 GB/s does not.
  for (const auto& [nic, slowest] : {std::pair{12.3e9, 10e9}, std::pair{5e9, 5e9}}) {
    SmallPlan small = words(8);
    small.workload.batch_per_gpu = 8 * 4096;
    small.spec.node.host.memory_bandwidth = {10e9};
    small.spec.fabric.link.bandwidth = {nic};
    const Placement placement = place_packed(8, 4);
    const Cluster cluster = Cluster::build(small.spec, 2);
    const PlanRequest request{small.workload, cluster, placement, small.knobs, small.device};
    HorovodSettings settings;
    settings.gathers_over_hosts = true, settings.ranks_per_node = 4;
    TaskGraph graph;
    Process process(request, graph);
    HorovodGathering gathering(process, settings, process.add_thread("thread"));
    gathering.gather(0, process.host_for(process.main_thread(), {}, Account::host));
    const Timeline timeline = run(graph, *make_max_min_network(cluster.capacities()));
    const Span ring =
        timeline.spans[tasks_labelled(graph, TaskKind::copy, "MPI all_gather of sparse gradients").front()];
    CHECK(to_seconds(ring.end - ring.start) ==
          Approx(7 * 4096.0 * (kValues + kIndices) / slowest).epsilon(0.01));
    CHECK(to_seconds(ring.end - ring.start) == Approx(to_seconds(gathering.held(0))).epsilon(1e-9));
  }
}

TEST_CASE("within a node MPI's rings go at the rate at which one core copies") {
  SmallPlan small = words(4);
  HorovodSettings settings;
  settings.gathers_over_hosts = true, settings.ranks_per_node = 4;
  for (const double rate : {5e9, 20e9}) {
    small.spec.node.host.memory_bandwidth = {rate};
    const Placement placement = place_packed(4, 4);
    const Cluster cluster = Cluster::build(small.spec, 1);
    const PlanRequest request{small.workload, cluster, placement, small.knobs, small.device};
    TaskGraph graph;
    Process process(request, graph);
    const HorovodGathering gathering(process, settings, process.add_thread("thread"));
    // Three other ranks' rows; 2 x 3 messages of 0.8 us.
    CHECK(to_seconds(gathering.held(0)) == Approx(3.0 * (kValues + kIndices) / rate + 6 * 0.8e-6));
  }
}

TEST_CASE("the steady step of sparse gradients repeats, and its accounts sum to it") {
  for (const int minor : {19, 28}) {
    SmallPlan small = words(8);
    small.knobs.edit<HorovodOptions>().horovod_version = FrameworkVersion{0, minor};
    const Ran ran = run_plan(small, "horovod");
    CHECK(ran.step_s(3) == Approx(ran.step_s(2)).epsilon(1e-9));
    double sum = 0;
    for (std::size_t account = 0; account < kAccountCount; ++account)
      sum += ran.share(static_cast<Account>(account));
    CHECK(sum == Approx(ran.last_step_s()).epsilon(1e-9));
  }
}

TEST_CASE("over slow links a large batch of a small table is better reduced whole") {
  SmallPlan rows = words(8);
  rows.workload.batch_per_gpu = 512;  // 8 x 1.1 MB of rows against 128 kB of table
  SmallPlan whole = rows;
  whole.knobs.edit<HorovodOptions>().sparse_as_dense = true;
  CHECK(run_plan(whole, "horovod").last_step_s() < run_plan(rows, "horovod").last_step_s());
}

}  // namespace horovod_sparse_test

// Horovod step by step: who launches what, what is sent, and what each option changes.
#include "sim/strategy/horovod/horovod.hpp"

#include <algorithm>
#include <numeric>

#include "sim/strategy/horovod/horovod_options.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace horovod_test {

using namespace foretrain;
using test::plan_of;
using test::Ran;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan on(int gpus, const Model& model = test::mnist_net()) {
  SmallPlan small(model);
  small.gpus = gpus;
  return small;
}

SmallPlan on_tensorflow(int gpus, Execution execution, const Model& model = test::resnet18()) {
  SmallPlan small = on(gpus, model);
  small.workload.framework = usual_framework(FrameworkKind::tensorflow);
  small.workload.framework.execution = execution;
  return small;
}

std::vector<TaskId> messages(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::collective, "all_reduce message");
}
std::vector<TaskId> copies_in(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::kernel, "copy into fusion buffer");
}
std::vector<TaskId> copies_out(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::kernel, "copy out of fusion buffer");
}
std::vector<TaskId> cycles(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::host, "Horovod cycle");
}

std::int64_t total(const std::vector<Bytes>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0},
                         [](std::int64_t sum, Bytes size) { return sum + size.count; });
}

std::string choice(const Plan& plan, std::string_view subject) {
  for (const Decision& decision : plan.decisions.list()) {
    if (decision.subject == subject) return decision.choice + ": " + decision.why;
  }
  return "";
}

bool same_tasks(const TaskGraph& a, const TaskGraph& b) {
  return std::equal(a.tasks().begin(), a.tasks().end(), b.tasks().begin(), b.tasks().end(),
                    [](const Task& x, const Task& y) {
                      return x.kind == y.kind && x.account == y.account && x.queue == y.queue &&
                             x.duration == y.duration && x.traffic == y.traffic;
                    });
}

}  // namespace

TEST_CASE("one process registers no hooks: the plan is that of single") {
  const Plan horovod = plan_of(on(1), "horovod"), single = plan_of(on(1), "single");
  CHECK(same_tasks(horovod.graph, single.graph));
  CHECK(horovod.buckets.empty());
  CHECK_THAT(choice(horovod, "one process"), ContainsSubstring("registers none"));
}

TEST_CASE("hvd is another name of horovod") { CHECK(find_strategy("hvd") == find_strategy("horovod")); }

TEST_CASE("the gradients of a quick backward pass are one message, padded to 16 bytes each") {
  // MNIST: 8 hooks within a fraction of a cycle; 1,199,882 floats, of which the last bias (10) is padded from
  // 40 to 48 bytes.
  SmallPlan small = on(4);
  small.knobs.edit<HorovodOptions>().cycle_time = milliseconds(100);
  const Plan plan = plan_of(small, "horovod");
  REQUIRE(plan.buckets.size() == 1);
  CHECK(plan.buckets[0].count == 4 * 1'199'882 + 8);
  CHECK(messages(plan).size() == 5);
  CHECK(cycles(plan).size() == 5);
}

TEST_CASE("each step sends every message once, with its bytes") {
  const Plan plan = plan_of(on(4, test::resnet50()), "horovod");
  const auto sent = messages(plan);
  REQUIRE(sent.size() == 5 * plan.buckets.size());
  CHECK(plan.buckets.size() > 1);
  for (std::size_t i = 0; i < sent.size(); ++i)
    CHECK(plan.graph.tasks()[sent[i]].traffic == plan.buckets[i % plan.buckets.size()]);
  CHECK(total(plan.buckets) == 4 * 25'557'032);  // all of ResNet-50's tensors are multiples of 16 bytes
}

TEST_CASE("longer cycles make fewer and larger messages") {
  std::size_t before = 1000;
  for (const double cycle_ms : {0.2, 1.0, 5.0, 100.0}) {
    SmallPlan small = on(4, test::resnet50());
    small.knobs.edit<HorovodOptions>().cycle_time = milliseconds(cycle_ms);
    const std::size_t now = plan_of(small, "horovod").buckets.size();
    CHECK(now <= before);
    before = now;
  }
  CHECK(before == 1);
}

TEST_CASE("messages follow the host: a slower CPU hands over the same gradients in more cycles") {
  SmallPlan quick = on(4, test::resnet50()), slow = on(4, test::resnet50());
  slow.spec.node.host.slowdown = 4;
  CHECK(plan_of(slow, "horovod").buckets.size() > plan_of(quick, "horovod").buckets.size());
}

TEST_CASE("messages do not follow the GPU while the host is ahead of it") {
  SmallPlan quick = on(4, test::resnet18()), slow = on(4, test::resnet18());
  slow.device.kernel.time_scale = 5;
  CHECK(plan_of(slow, "horovod").buckets == plan_of(quick, "horovod").buckets);
}

TEST_CASE("a full driver queue makes hooks follow the GPU") {
  // ResNet-50 launches some 460 kernels a step; for-loop SGD as in PyTorch 1 adds 3 per tensor: the queue of
  // 1024 is never full. Four accumulated passes are 1,500 kernels without a wait, so the last pass's hooks
  // come at the GPU's pace, and more cycles see them.
  SmallPlan once = on(4, test::resnet50()), often = on(4, test::resnet50());
  once.device.kernel.time_scale = often.device.kernel.time_scale = 20;
  often.knobs.accumulation = 4;
  CHECK(plan_of(often, "horovod").buckets.size() > plan_of(once, "horovod").buckets.size());
}

TEST_CASE("the fusion threshold limits messages") {
  SmallPlan small = on(4, test::resnet50());
  small.knobs.edit<HorovodOptions>().cycle_time = milliseconds(100);
  small.knobs.edit<HorovodOptions>().fusion_threshold = Bytes{16 << 20};
  const Plan plan = plan_of(small, "horovod");
  CHECK(plan.buckets.size() >= 7);  // 102.2 MB in messages of at most 16.8 MB
  for (const Bytes message : plan.buckets) CHECK(message.count <= 16 << 20);
  CHECK(total(plan.buckets) == 4 * 25'557'032);
}

TEST_CASE("threshold 0 turns fusion off: every gradient travels alone and nothing is copied") {
  SmallPlan small = on(4, test::resnet18());
  small.knobs.edit<HorovodOptions>().fusion_threshold = Bytes{0};
  const Plan plan = plan_of(small, "horovod");
  CHECK(plan.buckets.size() == 62);
  CHECK(copies_in(plan).empty());
  CHECK(copies_out(plan).empty());
  CHECK(plan.memory.buffers.count == 0);
  CHECK_THAT(choice(plan, "Horovod"), ContainsSubstring("fusion off"));
}

TEST_CASE("a single large gradient is reduced in place, without the fusion buffer") {
  // VGG-16's first linear layer: 102,760,448 floats are 411 MB, above the 128 MiB.
  SmallPlan small = on(4, test::vgg16());
  small.knobs.edit<HorovodOptions>().cycle_time = milliseconds(1000);
  small.steps = 1;
  const Plan plan = plan_of(small, "horovod");
  CHECK(std::count(plan.buckets.begin(), plan.buckets.end(), Bytes{4LL * 102'760'448}) == 1);
  const auto fused = static_cast<std::size_t>(std::count_if(
      plan.buckets.begin(), plan.buckets.end(), [](Bytes message) { return message.count <= 128 << 20; }));
  CHECK(copies_in(plan).size() == fused);
}

TEST_CASE("batched copies take 160 gradients a kernel, single ones a copy each") {
  SmallPlan batched = on(4, test::resnet50());
  batched.knobs.edit<HorovodOptions>().cycle_time = milliseconds(100);
  batched.steps = 1;
  SmallPlan single = batched;
  single.knobs.edit<HorovodOptions>().batch_copies = false;
  const Plan a = plan_of(batched, "horovod"), b = plan_of(single, "horovod");
  REQUIRE(a.buckets.size() == 1);
  CHECK(copies_in(a).size() == 2);  // 161 tensors
  CHECK(copies_out(a).size() == 2);
  CHECK(copies_in(b).size() == 161);
  CHECK(copies_out(b).size() == 161);
}

TEST_CASE("copies run on Horovod's stream, not on the compute stream") {
  const Plan plan = plan_of(on(4, test::resnet18()), "horovod");
  const Task& sent = plan.graph.tasks()[messages(plan).front()];
  for (const TaskId id : copies_in(plan)) CHECK(plan.graph.tasks()[id].queue == sent.queue);
  for (const TaskId id : copies_out(plan)) CHECK(plan.graph.tasks()[id].queue == sent.queue);
  CHECK(plan.graph.tasks()[plan.step_ends.back()].queue != sent.queue);
}

TEST_CASE("a message starts while backward still runs, and not before its own gradients are computed") {
  SmallPlan small = on(4, test::resnet50());
  small.device.kernel.time_scale = 5;
  const Ran ran = run_plan(small, "horovod");
  const auto sent = messages(ran.plan);
  const auto updates = tasks_labelled(ran.plan.graph, TaskKind::kernel, "optimizer");
  const Time first = ran.timeline.spans[sent.front()].start,
             last = ran.timeline.end_of(sent[ran.plan.buckets.size() - 1]);
  CHECK(first < last - milliseconds(10));
  CHECK(ran.timeline.spans[updates.front()].start > last);
}

TEST_CASE("step waits on the host until the GPU has reduced everything") {
  SmallPlan small = on(4, test::resnet18());
  small.spec = test::star_cluster(4, {0.5e9});
  const Ran ran = run_plan(small, "horovod");
  // The optimizer's kernels are launched only then: each starts at least a launch latency after the last copy
  // out of the buffer.
  const Time done = ran.timeline.end_of(copies_out(ran.plan).at(ran.plan.buckets.size() - 1));
  const auto updates = tasks_labelled(ran.plan.graph, TaskKind::kernel, "optimizer");
  CHECK(ran.timeline.spans[updates.front()].start >
        done + small.device.host.sync_wake + small.device.host.launch_latency);
}

TEST_CASE("before 0.21 the defaults are 64 MiB and 5 ms, copies are single, and the thread waits for data") {
  SmallPlan small = on(4, test::resnet50());
  small.knobs.edit<HorovodOptions>().horovod_version = FrameworkVersion{0, 19};
  small.steps = 1;
  const Plan plan = plan_of(small, "horovod");
  CHECK_THAT(choice(plan, "Horovod"), ContainsSubstring("0.19: cycles of 5 ms, fusion up to 67.1 MB"));
  CHECK_THAT(choice(plan, "background thread"), ContainsSubstring("waits for data"));
  CHECK(copies_in(plan).size() > 150);
  for (const Bytes message : plan.buckets) CHECK(message.count <= 64 << 20);
}

TEST_CASE("options that are given win over the defaults of a version") {
  SmallPlan small = on(4);
  small.knobs.edit<HorovodOptions>().horovod_version = FrameworkVersion{0, 19};
  small.knobs.edit<HorovodOptions>().cycle_time = milliseconds(0.1);
  small.knobs.edit<HorovodOptions>().fusion_threshold = Bytes{1 << 20};
  CHECK_THAT(choice(plan_of(small, "horovod"), "Horovod"),
             ContainsSubstring("cycles of 100 us, fusion up to 1.05 MB"));
}

TEST_CASE("0.22 still waits for data but has the new defaults, and 0.23 leaves the wait to the GPU") {
  SmallPlan small = on(4);
  small.knobs.edit<HorovodOptions>().horovod_version = FrameworkVersion{0, 22};
  const Plan before = plan_of(small, "horovod");
  CHECK_THAT(choice(before, "Horovod"), ContainsSubstring("cycles of 1 ms, fusion up to 134 MB"));
  CHECK_FALSE(choice(before, "background thread").empty());
  small.knobs.edit<HorovodOptions>().horovod_version = FrameworkVersion{0, 23};
  CHECK(choice(plan_of(small, "horovod"), "background thread").empty());
}

TEST_CASE("fp16 halves the messages and casts every gradient twice") {
  SmallPlan small = on(4, test::resnet18());
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  const Plan plan = plan_of(small, "horovod");
  CHECK(total(plan.buckets) == 2 * 11'689'512);
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "compress gradient").size() == 62 * 5);
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "decompress gradient").size() == 62 * 5);
}

TEST_CASE("fp16 compression leaves 16-bit gradients as they are") {
  SmallPlan small = on(4, test::resnet18());
  small.workload.precision = Precision::amp_fp16;
  small.workload.half_weights = true;
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  const Plan plan = plan_of(small, "horovod");
  CHECK(total(plan.buckets) == 2 * 11'689'512);
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "compress gradient").empty());
}

TEST_CASE("accumulated passes only count down: gradients are handed over in the last one") {
  SmallPlan small = on(4, test::resnet18());
  small.knobs.accumulation = 3;
  const Plan plan = plan_of(small, "horovod");
  CHECK(messages(plan).size() == 5 * plan.buckets.size());
  CHECK(total(plan.buckets) == 4 * 11'689'512);
}

TEST_CASE("nothing is broadcast in a step: batch norm statistics stay each rank's own") {
  const Plan plan = plan_of(on(4, test::resnet18()), "horovod");
  CHECK(tasks_labelled(plan.graph, TaskKind::collective, "").size() == messages(plan).size());
}

TEST_CASE("hierarchical all-reduce waits for the node, goes over host memory and comes back") {
  SmallPlan small = on(8, test::resnet18());
  small.spec = test::pcie_cluster(2, 4);
  small.knobs.edit<HorovodOptions>().hierarchical_allreduce = true;
  small.steps = 1;
  const Ran ran = run_plan(small, "horovod");
  const Plan& plan = ran.plan;
  const std::size_t n = plan.buckets.size();
  const auto scattered = tasks_labelled(plan.graph, TaskKind::collective, "reduce_scatter in the node");
  const auto mpi = tasks_labelled(plan.graph, TaskKind::copy, "MPI all_reduce between nodes");
  const auto gathered = tasks_labelled(plan.graph, TaskKind::collective, "all_gather in the node");
  REQUIRE(scattered.size() == n);
  REQUIRE(mpi.size() == n);
  REQUIRE(gathered.size() == n);
  CHECK(tasks_labelled(plan.graph, TaskKind::copy, "copy over host memory").size() == 2 * n);
  CHECK(messages(plan).empty());
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(plan.graph.tasks()[scattered[i]].traffic == plan.buckets[i]);
    CHECK(plan.graph.tasks()[mpi[i]].traffic.count == plan.buckets[i].count / 4);
    CHECK(ran.timeline.spans[mpi[i]].start > ran.timeline.end_of(scattered[i]));
    CHECK(ran.timeline.spans[gathered[i]].start > ran.timeline.end_of(mpi[i]));
  }
}

TEST_CASE("torus all-reduce stays on the GPUs: scatter in the node, a quarter across, gather in the node") {
  SmallPlan small = on(8, test::resnet18());
  small.spec = test::pcie_cluster(2, 4);
  small.knobs.edit<HorovodOptions>().torus_allreduce = true;
  small.steps = 1;
  const Plan plan = plan_of(small, "horovod");
  const auto across = messages(plan);
  REQUIRE(across.size() == plan.buckets.size());
  for (std::size_t i = 0; i < across.size(); ++i)
    CHECK(plan.graph.tasks()[across[i]].traffic.count == plan.buckets[i].count / 4);
  CHECK(tasks_labelled(plan.graph, TaskKind::copy, "copy over host memory").empty());
  CHECK(tasks_labelled(plan.graph, TaskKind::collective, "reduce_scatter in the node").size() ==
        plan.buckets.size());
}

TEST_CASE("two levels are ignored where there is one, and torus before it existed") {
  SmallPlan one_node = on(4, test::resnet18());
  one_node.spec = test::pcie_cluster(1, 4);
  one_node.knobs.edit<HorovodOptions>().hierarchical_allreduce = true;
  CHECK_THAT(choice(plan_of(one_node, "horovod"), "all-reduce"), ContainsSubstring("there is one node"));
  SmallPlan one_gpu = on(4, test::resnet18());  // star: one GPU per node
  one_gpu.knobs.edit<HorovodOptions>().torus_allreduce = true;
  CHECK_THAT(choice(plan_of(one_gpu, "horovod"), "all-reduce"),
             ContainsSubstring("more than one, on every node"));
  SmallPlan old = on(8, test::resnet18());
  old.spec = test::pcie_cluster(2, 4);
  old.knobs.edit<HorovodOptions>().torus_allreduce = true;
  old.knobs.edit<HorovodOptions>().horovod_version = FrameworkVersion{0, 25};
  CHECK_THAT(choice(plan_of(old, "horovod"), "all-reduce"), ContainsSubstring("came with Horovod 0.26"));
}

TEST_CASE("without the response cache every cycle costs rank 0 the requests of all ranks") {
  SmallPlan cached = on(4, test::resnet18()), off = on(4, test::resnet18()), small = on(4, test::resnet18());
  off.knobs.edit<HorovodOptions>().cache_capacity = 0;
  small.knobs.edit<HorovodOptions>().cache_capacity = 61;
  const auto longest_cycle = [](const Plan& plan) {
    Time longest{};
    for (const TaskId id : cycles(plan)) longest = std::max(longest, plan.graph.tasks()[id].duration);
    return longest;
  };
  const Time with = longest_cycle(plan_of(cached, "horovod")),
             without = longest_cycle(plan_of(off, "horovod"));
  CHECK(with < microseconds(20));
  CHECK(without > with + microseconds(4));  // at least one tensor of four ranks, 1 us each
  CHECK_THAT(choice(plan_of(off, "horovod"), "negotiation"), ContainsSubstring("cache is off"));
  CHECK_THAT(choice(plan_of(small, "horovod"), "negotiation"), ContainsSubstring("62 tensors do not fit"));
}

TEST_CASE("TensorFlow's graph hands gradients over one by one, XLA all at the end of backward") {
  const SmallPlan graph = on_tensorflow(4, Execution::graph),
                  compiled = on_tensorflow(4, Execution::compiled);
  const Ran ran = run_plan(compiled, "horovod");
  const auto sent = messages(ran.plan);
  REQUIRE(sent.size() == ran.plan.buckets.size() * 5);
  // Nothing of backward is left to hide a message of an XLA cluster: it starts after the last kernel before
  // the optimizer's.
  const auto updates = tasks_labelled(ran.plan.graph, TaskKind::kernel, "optimizer");
  const QueueId compute = ran.plan.graph.tasks()[updates.front()].queue;
  Time backward_end{};
  for (TaskId id = 0; id < sent.front(); ++id) {
    if (ran.plan.graph.tasks()[id].queue == compute)
      backward_end = std::max(backward_end, ran.timeline.end_of(id));
  }
  CHECK(ran.timeline.spans[sent.front()].start >= backward_end);
  CHECK(plan_of(graph, "horovod").buckets.size() >= ran.plan.buckets.size());
}

TEST_CASE("the fusion buffer is allocated whole, compressed copies come on top") {
  SmallPlan small = on(4, test::resnet18());
  CHECK(plan_of(small, "horovod").memory.buffers.count == 128 << 20);
  small.knobs.edit<GradientOptions>().compression = Compression::fp16;
  CHECK(plan_of(small, "horovod").memory.buffers.count == (128 << 20) + 2 * 11'689'512);
}

TEST_CASE("a plan of one step of Horovod is a prefix of a plan of two") {
  SmallPlan one = on(4), two = on(4);
  one.steps = 1, two.steps = 2;
  const Plan a = plan_of(one, "horovod"), b = plan_of(two, "horovod");
  REQUIRE(a.graph.tasks().size() < b.graph.tasks().size());
  CHECK(a.step_ends[0] == b.step_ends[0]);
}

TEST_CASE("the planner names the messages and the cycles they came from") {
  const Plan plan = plan_of(on(4, test::resnet18()), "horovod");
  CHECK_THAT(choice(plan, "fused messages"), ContainsSubstring("since the last cycle"));
}

}  // namespace horovod_test

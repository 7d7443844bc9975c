// Batches on their way to the GPU: what limits a step, and what the loader's choices change.
#include "sim/strategy/process/input_pipeline.hpp"

#include <algorithm>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace input_pipeline_test {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;

namespace {

/// Kernels a hundred times as long: nothing but the GPU matters.
SmallPlan compute_bound() {
  SmallPlan small(test::mnist_net(), 64);
  small.device.kernel.time_scale = 100;
  return small;
}

/// Slow enough that four workers bound the step.
SmallPlan loader_bound() {
  SmallPlan small;
  small.workload.data.decode = milliseconds(10);
  return small;
}

double step_of(const SmallPlan& small) { return run_plan(small, "single").last_step_s(); }

constexpr double kBatch = 64 * 3144, kHandOver = 790e-6 + 64 * 3.4e-6;  // and fetching 64 samples

/// CPU time of a step on the main and autograd threads.
double script_s(const Plan& plan, int steps) {
  double sum = 0;
  for (const Task& task : plan.graph.tasks()) {
    const std::string& queue = plan.graph.queues()[task.queue].name;
    const bool script = queue == "main thread" || queue == "autograd thread";
    if (script && task.kind == TaskKind::host) sum += to_seconds(task.duration);
  }
  return sum / steps;
}

std::string choice_of(const Plan& plan) {
  for (const Decision& decision : plan.decisions.list()) {
    if (decision.subject == "input pipeline") return decision.choice;
  }
  return "";
}

}  // namespace

TEST_CASE("a loader-bound step lasts as long as the workers need for a batch") {
  const test::Ran ran = run_plan(loader_bound(), "single");
  // 64 samples x 10 ms, collating at 10 GB/s and handing over, divided among four workers.
  CHECK(ran.last_step_s() == Approx((0.640 + kHandOver + kBatch / 10e9) / 4).epsilon(1e-6));
  CHECK(ran.share(Account::input_stall) > 0.9 * ran.last_step_s());
  CHECK_THAT(choice_of(ran.plan), ContainsSubstring("4 workers"));
}

TEST_CASE("batches of ranks that share PCIe come at the same time, so each takes as long as all of them") {
  // 64 x 3144 bytes over 12.3 GB/s are 16.4 us. Two GPUs of one switch with one link to the CPU need twice
  // as long for their batches as one of them alone; where each GPU has a link of its own, nothing changes.
  SmallPlan small = compute_bound();
  small.knobs.edit<DdpOptions>().wrapped = false;
  small.gpus = 2;
  const double sharing_s = kBatch / 12.3e9;
  small.spec = test::two_socket_node(2);
  SmallPlan one = small;
  one.gpus = 1;
  CHECK(run_plan(small, "ddp").last_step_s() - run_plan(one, "ddp").last_step_s() ==
        Approx(sharing_s).epsilon(0.02));
  small.spec = one.spec = test::pcie_cluster(1, 2);
  CHECK(run_plan(small, "ddp").last_step_s() == Approx(run_plan(one, "ddp").last_step_s()).epsilon(1e-6));
}

TEST_CASE("cores do the work of workers, pin-memory thread and script, and no more workers help") {
  SmallPlan small = loader_bound();
  small.workload.data.cores_per_gpu = 2;
  small.workload.data.workers_per_gpu = 16;
  const test::Ran ran = run_plan(small, "single");
  const double pinning = 50e-6 + kBatch / 10e9 + 0.35e-9 * kBatch;
  const double work = 0.640 + kHandOver + kBatch / 10e9 + pinning + script_s(ran.plan, small.steps);
  CHECK(ran.last_step_s() == Approx(work / 2).epsilon(1e-3));
  CHECK_THAT(choice_of(ran.plan), ContainsSubstring("2 cores"));
  small.workload.data.workers_per_gpu = 64;
  CHECK(step_of(small) == Approx(ran.last_step_s()).epsilon(1e-6));
}

TEST_CASE("on one core worker and script take turns") {
  SmallPlan small;
  small.workload.data.decode = microseconds(10);
  small.workload.data.cores_per_gpu = 1, small.workload.data.workers_per_gpu = 1;
  const test::Ran ran = run_plan(small, "single");
  const double worker = 640e-6 + kHandOver + kBatch / 10e9;
  CHECK(ran.last_step_s() > worker + 0.9 * script_s(ran.plan, small.steps));
}

TEST_CASE("without workers the main thread loads, and the GPU waits for input") {
  SmallPlan small;
  small.workload.data.decode = milliseconds(1);
  small.workload.data.workers_per_gpu = 0;
  const test::Ran ran = run_plan(small, "single");
  CHECK(ran.share(Account::input_stall) > 0.060);  // of 64 x 1 ms = 64 ms
  CHECK(ran.last_step_s() > 0.064);
  CHECK(choice_of(ran.plan) == "in the main thread");
}

TEST_CASE("fewer cores than threads bound a step without workers, and without a loader at all") {
  SmallPlan small;
  small.workload.data.loader = LoaderKind::none;
  const double alone = step_of(small);
  small.workload.data.cores_per_gpu = 0.25;  // one CPU for four processes
  const test::Ran quarter = run_plan(small, "single");
  CHECK(quarter.last_step_s() == Approx(4 * script_s(quarter.plan, small.steps)).epsilon(0.02));
  small.workload.data.cores_per_gpu = 2;  // the main and the autograd thread have one each
  CHECK(step_of(small) == Approx(alone).epsilon(0.02));
  SmallPlan loads;
  loads.workload.data.workers_per_gpu = 0, loads.workload.data.decode = microseconds(100);
  loads.workload.data.cores_per_gpu = 0.5;
  const test::Ran half = run_plan(loads, "single");
  // The main thread's time includes loading.
  CHECK(half.last_step_s() == Approx(2 * script_s(half.plan, loads.steps)).epsilon(0.02));
  double before = 1e9;
  for (const double cores : {0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0}) {
    loads.workload.data.cores_per_gpu = cores;
    const double now = step_of(loads);
    CHECK(now <= before * (1 + 1e-9));
    before = now;
  }
}

TEST_CASE("a slow decode in workers is hidden behind a long enough step") {
  SmallPlan fast = compute_bound(), slow = compute_bound();
  slow.workload.data.decode = microseconds(100);  // 64 x 0.1 ms / 4 workers = 1.6 ms, far below the step
  CHECK(step_of(slow) == Approx(step_of(fast)).epsilon(1e-9));
}

TEST_CASE("large batches are bound by the pin-memory thread, whatever the workers") {
  SmallPlan small;
  small.workload.data.sample_bytes = {10'000'000};
  small.workload.data.workers_per_gpu = 32;
  const double bytes = 64 * 10e6, pinning = 50e-6 + bytes / 10e9 + 0.35e-9 * bytes;
  CHECK(step_of(small) == Approx(pinning).epsilon(0.01));
  small.workload.data.workers_per_gpu = 64;
  CHECK(step_of(small) == Approx(pinning).epsilon(0.01));
}

TEST_CASE("storage that the ranks of a node share bounds them all") {
  SmallPlan small;
  small.spec = test::pcie_cluster(1, 4);
  small.spec.storage = {{StorageKind::nvme, {}, {1e9}, {}, Time::zero()}};
  small.workload.data.storage = StorageKind::nvme, small.workload.data.stored_bytes = {1'000'000};
  small.workload.data.workers_per_gpu = 32;
  CHECK(step_of(small) == Approx(64e6 / 1e9).epsilon(1e-3));
  small.gpus = 4;
  CHECK(step_of(small) == Approx(4 * 64e6 / 1e9).epsilon(1e-3));
}

TEST_CASE("pageable batches are copied at half the rate, and the host waits for the copy") {
  SmallPlan pinned = compute_bound(), pageable = compute_bound();
  pinned.workload.data.sample_bytes = pageable.workload.data.sample_bytes = {1'000'000};
  pageable.workload.data.pinned = false;
  const test::Ran fast = run_plan(pinned, "single"), slow = run_plan(pageable, "single");
  const auto waits = [](const Plan& plan) {
    const auto& tasks = plan.graph.tasks();
    return std::count_if(tasks.begin(), tasks.end(),
                         [](const Task& task) { return task.kind == TaskKind::wait; });
  };
  CHECK(waits(slow.plan) == waits(fast.plan) + pageable.steps);
  CHECK(slow.last_step_s() > fast.last_step_s() + 64e6 / 98.4e9);  // one more such time on the wide PCIe
}

TEST_CASE("loaders that copy ahead hide the copy behind compute") {
  SmallPlan torch = compute_bound(), tensorflow = compute_bound();
  torch.workload.data.sample_bytes = tensorflow.workload.data.sample_bytes = {100'000};
  tensorflow.workload.data.loader = LoaderKind::tf_data;
  CHECK(step_of(torch) - step_of(tensorflow) == Approx(6.4e6 / 98.4e9 + 1e-6).epsilon(0.01));
}

TEST_CASE("decoding on the GPU takes the GPU's time instead of the CPU's") {
  SmallPlan cpu = loader_bound(), gpu = loader_bound();
  cpu.workload.data.stored_bytes = gpu.workload.data.stored_bytes = {110'000};
  cpu.workload.data.loader = LoaderKind::dali_cpu, gpu.workload.data.loader = LoaderKind::dali_gpu;
  CHECK(step_of(gpu) < 0.7 * step_of(cpu));
  SmallPlan idle = compute_bound(), decoding = compute_bound();
  idle.workload.data.loader = LoaderKind::dali_cpu;
  decoding.workload.data.loader = LoaderKind::dali_gpu, decoding.workload.data.stored_bytes = {110'000};
  CHECK(step_of(decoding) > step_of(idle));
}

TEST_CASE("without a loader nothing is copied and nothing waited for") {
  SmallPlan small = loader_bound();
  small.workload.data.loader = LoaderKind::none;
  const test::Ran ran = run_plan(small, "single");
  CHECK(ran.share(Account::input_stall) == 0);
  CHECK(test::tasks_labelled(ran.plan.graph, TaskKind::copy, "input batch").empty());
  CHECK(choice_of(ran.plan) == "none");
}

TEST_CASE("an anchor on the input side scales what the pipeline takes") {
  SmallPlan small = loader_bound();
  const double plain = step_of(small);
  small.device.input_time_scale = 2;
  CHECK(step_of(small) == Approx(2 * plain).epsilon(1e-6));
}

TEST_CASE("the explanation says where samples come from and why") {
  SmallPlan small;
  small.workload.data.storage = StorageKind::lustre, small.workload.data.stored_bytes = {1'000'000};
  const auto said = [&] {
    const Plan plan = plan_of(small, "single");
    for (const Decision& decision : plan.decisions.list()) {
      if (decision.subject == "samples come from") return decision.choice + ": " + decision.why;
    }
    return std::string();
  };
  CHECK(said() == "lustre: data.samples is not known");
  small.workload.data.samples = 1000;
  CHECK_THAT(said(), ContainsSubstring("page_cache: 1 GB fit into 80 % of the node's") &&
                         ContainsSubstring("the first reads lustre at"));
  small.workload.data.samples = 1'000'000;
  CHECK_THAT(said(), ContainsSubstring("lustre: 1 TB do not fit"));
  small.workload.data.cached = true;
  CHECK_THAT(said(), ContainsSubstring("page_cache: data.cached = true"));
}

}  // namespace input_pipeline_test

// What many GPUs lose besides waiting: three formulas by hand.
#include "sim/strategy/process/losses.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace losses_test {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;

namespace {

CollectivePlan all_reduce_at(double bytes_per_s, int channels) {
  CollectivePlan plan;
  plan.op = CollectiveOp::all_reduce;
  plan.size = {1'000'000'000};
  plan.alone = seconds(1e9 / bytes_per_s);
  plan.channels = channels;
  return plan;
}

Gpu gpu_of(int multiprocessors, double memory_bandwidth) {
  Gpu gpu;
  gpu.sm_count = multiprocessors;
  gpu.memory_bandwidth = {memory_bandwidth};
  return gpu;
}

SmallPlan slow_kernels(int gpus) {
  SmallPlan small(test::resnet18(), 32);
  small.spec = test::pcie_cluster(2, 4);
  small.gpus = gpus;
  small.device.kernel.time_scale = 100;  // so that kernels are all there is
  return small;
}

}  // namespace

TEST_CASE("the slowest of many ranks is slower by Blom's expected maximum") {
  CHECK(slowest_rank_factor(0.01, 1) == 1);
  CHECK(slowest_rank_factor(0.01, 10) == Approx(1 + 0.01 * 1.53875).epsilon(1e-3));
  CHECK(slowest_rank_factor(0, 1000) == 1);
}

TEST_CASE("a full node loses all of it, a single rank per node nothing") {
  CHECK(contention_factor(0.03, place_packed(4, 4), 4) == Approx(1.03));
  CHECK(contention_factor(0.03, place_packed(8, 4), 4) == Approx(1.03));
  CHECK(contention_factor(0.03, place(4, 4, Layout::spread, 4), 4) == 1);
  CHECK(contention_factor(0.03, place_packed(1, 1), 1) == 1);
  CHECK(contention_factor(0.03, place_packed(2, 2), 2) == Approx(1.03));
  CHECK(contention_factor(0.03, place_packed(2, 3), 3) == Approx(1.015));
  CHECK(contention_factor(0.03, Placement{}, 4) == 1);
}

TEST_CASE("between, the loss grows with the GPUs at work on the busiest node") {
  CHECK(contention_factor(0.03, place_packed(2, 4), 4) == Approx(1.01));  // 1 of 3 neighbours
  CHECK(contention_factor(0.03, place_packed(3, 4), 4) == Approx(1.02));  // 2 of 3
  CHECK(contention_factor(0.03, place_packed(5, 4), 4) == Approx(1.03));  // the first node is full
  CHECK(contention_factor(0.03, place(4, 4, Layout::spread, 2), 4) == Approx(1.01));  // two on each
}

TEST_CASE("cores clock down with the threads at work, and a rank of its own already keeps some") {
  // Four ranks of 12 threads on 40 cores keep all of them busy, one rank 12: 70 % more.
  CHECK(busy_host_factor(0.25, place_packed(4, 4), 40, 12) == Approx(1 + 0.25 * 0.7));
  // On 128 cores 48 threads against 12.
  CHECK(busy_host_factor(0.25, place_packed(4, 4), 128, 12) == Approx(1 + 0.25 * 36 / 128.0));
  CHECK(busy_host_factor(0.25, place_packed(1, 4), 40, 12) == 1);
  CHECK(busy_host_factor(0.25, place(4, 4, Layout::spread, 4), 40, 12) == 1);
  CHECK(busy_host_factor(0.25, place_packed(8, 8), 4, 12) == 1);  // one rank has them all busy
  CHECK(busy_host_factor(0.25, Placement{}, 40, 12) == 1);
}

TEST_CASE("a collective takes the multiprocessors of its channels and its part of the memory's bandwidth") {
  // One rank sends nothing: 8 of 80 multiprocessors.
  CHECK(share_of_collective(all_reduce_at(10e9, 8), gpu_of(80, 900e9), 1) == Approx(0.1));
  // Two ranks at 90 GB/s: each sends 2 * 1/2 = 1 byte per byte, 3 passes = 270 of 900 GB/s, half of the
  // kernels' time waits for memory.
  CHECK(share_of_collective(all_reduce_at(90e9, 8), gpu_of(80, 900e9), 2) == Approx(0.1 + 0.5 * 0.3));
}

TEST_CASE("an operation in one direction sends half of what an all-reduce does") {
  CollectivePlan gather = all_reduce_at(90e9, 0);
  gather.op = CollectiveOp::all_gather;
  CHECK(share_of_collective(gather, gpu_of(80, 900e9), 2) == Approx(0.5 * 0.15));
}

TEST_CASE("a collective never takes the whole GPU") {
  CHECK(share_of_collective(all_reduce_at(1e15, 80), gpu_of(80, 900e9), 8) == Approx(0.9));
  CHECK(share_of_collective(all_reduce_at(1e9, 100), gpu_of(0, 0), 8) == Approx(0.9));
}

TEST_CASE("every family has losses between none and a tenth, and newer ones lose no more") {
  double spread = 1, busy = 1;
  for (int i = 0; i <= static_cast<int>(Architecture::blackwell); ++i) {
    const Losses losses = losses_of(static_cast<Architecture>(i));
    CHECK(losses.rank_spread > 0);
    CHECK(losses.busy_node >= 0);
    CHECK(losses.rank_spread <= std::min(spread, 0.1));
    CHECK(losses.busy_node <= std::min(busy, 0.1));
    spread = losses.rank_spread, busy = losses.busy_node;
  }
}

TEST_CASE("a busy node's kernels are longer in the plan") {
  const double idle = run_plan(slow_kernels(4), "ddp").last_step_s();
  SmallPlan busy = slow_kernels(4);
  busy.device.busy_node = 0.1;
  CHECK(run_plan(busy, "ddp").last_step_s() == Approx(1.1 * idle).epsilon(0.01));
}

TEST_CASE("one GPU loses nothing") {
  SmallPlan one = slow_kernels(1);
  const double without = run_plan(one, "ddp").last_step_s();
  one.device.busy_node = 0.5, one.device.rank_spread = 0.5;
  CHECK(run_plan(one, "ddp").last_step_s() == without);
}

}  // namespace losses_test

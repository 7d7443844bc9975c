// One collective at three fidelities: flows give what the closed form says, chunks what the flows say.
#include <algorithm>

#include "sim/collective/chunk_plan.hpp"
#include "sim/collective/fidelity.hpp"
#include "sim/engine/chunk_simulator.hpp"
#include "sim/engine/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fabric_examples.hpp"
#include "tests/support/one_job.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

using AlgorithmId = nccl::Algorithm;

struct Case {
  ClusterSpec spec;
  int gpus;
};

std::string text_of(const Case& one, const CollectivePlan& plan) {
  return one.spec.name + " " + std::to_string(one.gpus) + " GPUs, " + std::string(name_of(plan.op)) + " " +
         std::string(plan.algorithm_name()) + "/" + std::string(name_of(plan.protocol)) + " " + std::to_string(plan.size.count) +
         " bytes, " + std::to_string(plan.channels) + " channels";
}

std::vector<Case> idle_machines() {
  ClusterSpec staged = pcie_cluster(2, 4);
  staged.node.peer_access = false;
  std::vector<Case> all{{star_cluster(6, {12.5e9}), 6},
                        {star_cluster(32, {12.5e9}), 32},
                        {nvlink_cluster(1, 2), 2},
                        {nvlink_cluster(1, 2), 4},
                        {nvlink_cluster(4, 2), 16},
                        {nvlink_cluster(3, 1), 10},
                        {pcie_cluster(1, 4), 4},
                        {pcie_cluster(2, 4), 8},
                        {staged, 8},
                        {cube_mesh_node(), 8},
                        {nvswitch_node(), 8},
                        {two_socket_node(2), 4},
                        {h100_cluster(1), 8},
                        {h100_cluster(2), 16},
                        {h100_cluster(4), 32}};
  return all;
}

double seconds_of(const OneJob& job, const CollectivePlan& plan, Fidelity fidelity) {
  return to_seconds(simulate(job.communicator, plan, fidelity));
}

bool obeys(const CollectivePlan& plan, const CollectiveSettings& settings) {
  return plan.algorithm == settings.nccl.algorithm && plan.protocol == settings.nccl.protocol;
}

/// Largest |chunk / flow - 1| from 4 KiB to 1 GiB.
double worst_gap(const Case& one, CollectiveOp op, AlgorithmId algorithm, Protocol protocol) {
  const CollectiveSettings settings = forced(algorithm, protocol);
  const OneJob job(one.spec, one.gpus, settings);
  double worst = 0;
  for (std::int64_t size = 4 << 10; size <= 1 << 30; size *= 4) {
    const CollectivePlan plan = job.plan(op, size);
    if (!obeys(plan, settings)) continue;
    double gap = seconds_of(job, plan, Fidelity::chunk) / seconds_of(job, plan, Fidelity::flow) - 1;
    if (getenv("H7_FAIR") != nullptr) {
      const ChunkPlan chunks = chunk_plan(job.communicator, plan);
      ChunkOptions options;
      options.sharing = LinkSharing::fair_share;
      gap = to_seconds(plan.timing.start + simulate_chunks(chunks.graph, chunks.capacities, options).end) / to_seconds(plan.alone) - 1;
    }
    INFO(text_of(one, plan) << ": chunk is off by " << 100 * gap << " %");
    if (std::abs(gap) > std::abs(worst)) worst = gap;
    UNSCOPED_INFO(text_of(one, plan) << " gap " << 100 * gap);
    if (getenv("H7_GAPS") != nullptr && std::abs(gap) > 0.02) printf("%s gap %.2f %%\n", text_of(one, plan).c_str(), 100 * gap);
  }
  return std::abs(worst);
}

}  // namespace

TEST_CASE("flow level takes the time of the closed form on an idle machine") {
  std::vector<Case> all = idle_machines();
  for (const ClusterSpec& spec : fabric_examples()) all.push_back({spec, std::min(4, spec.nodes) * 4});
  for (const Case& one : all) {
    const OneJob job(one.spec, one.gpus);
    for (const CollectiveOp op : kCollectiveOps) {
      for (std::int64_t size = 4 << 10; size <= std::int64_t{4} << 30; size *= 64) {
        const CollectivePlan plan = job.plan(op, size);
        INFO(text_of(one, plan));
        // Flows carry whole bytes: one byte at 12 GB/s takes 80 ps, and a link may carry a dozen flows.
        CHECK(std::abs(seconds_of(job, plan, Fidelity::flow) - to_seconds(plan.alone)) <= 2e-9 + 1e-6 * to_seconds(plan.alone));
      }
    }
  }
}

TEST_CASE("rings and chains take within 2 % of their flows at chunk level on an idle machine from 4 KiB up") {
  for (const Case& one : idle_machines()) {
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::broadcast,
                                  CollectiveOp::reduce}) {
      for (const Protocol protocol : kProtocols) {
        INFO(one.spec.name << " " << one.gpus << " GPUs, " << name_of(op) << ", " << name_of(protocol));
        CHECK(worst_gap(one, op, AlgorithmId::ring, protocol) <= 0.02);
      }
    }
  }
}

TEST_CASE("trees take within 10 % of their flows at chunk level on an idle machine from 4 KiB up") {
  for (const Case& one : idle_machines()) {
    for (const Protocol protocol : kProtocols) {
      INFO(one.spec.name << " " << one.gpus << " GPUs, " << name_of(protocol));
      CHECK(worst_gap(one, CollectiveOp::all_reduce, AlgorithmId::tree, protocol) <= 0.10);
    }
  }
}

TEST_CASE("NVLS takes within 10 % of its flows at chunk level on an idle machine from 4 KiB up") {
  CHECK(worst_gap({h100_cluster(1), 8}, CollectiveOp::all_reduce, AlgorithmId::nvls, Protocol::simple) <= 0.10);
}

// Parameter servers and BytePS where the network is all that counts: steps against the bytes that must cross
// the busiest NIC.
#include <algorithm>

#include "sim/strategy/servers/server_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace parameter_server_physics {

using namespace foretrain;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;

namespace {

constexpr double kNic = 0.1e9;

/// Four nodes of one GPU behind NICs of 0.1 GB/s, so that kernels and CPUs hardly matter.
SmallPlan slow_network(const Model& model) {
  SmallPlan small(model, 8);
  small.spec = test::star_cluster(4, {kNic});
  small.gpus = 4;
  return small;
}

double parameter_bytes(const SmallPlan& small) {
  return static_cast<double>(small.workload.model->gradient_bytes().count);
}

/// Bytes a step sends over one link of the cluster.
double bytes_over(const Plan& plan, LinkId link, int steps) {
  double bytes = 0;
  for (const Task& task : plan.graph.tasks()) {
    if (task.pattern == kNone) continue;
    for (const PatternFlow& flow : plan.graph.pattern(task.pattern)) {
      if (std::find(flow.route.begin(), flow.route.end(), link) != flow.route.end())
        bytes += flow.weight * static_cast<double>(task.traffic.count);
    }
  }
  return bytes / steps;
}

/// The link by which the first node's NIC sends.
LinkId first_nic(const SmallPlan& small) {
  const Cluster cluster = Cluster::build(small.spec, 4);
  const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 0);
  return *std::find_if(route.links.begin(), route.links.end(),
                       [&](LinkId id) { return cluster.links()[id].kind == LinkKind::network; });
}

}  // namespace

TEST_CASE("one server for four workers: three times all parameters in, then out, through its NIC") {
  SmallPlan small = slow_network(test::mnist_net());
  small.workload.framework = usual_framework(FrameworkKind::tensorflow);
  small.knobs.edit<ServerOptions>().servers = 1;
  // N workers, the server on the node of one: (N - 1) 4 P / B_s each way, one after the other; gRPC reaches
  // 95 %.
  const double bound = 2 * 3 * parameter_bytes(small) / (0.95 * kNic);
  const double step = run_plan(small, "parameter_server").last_step_s();
  CHECK(step >= bound);
  CHECK(step == Approx(bound).epsilon(0.05));
}

TEST_CASE("pushes and pulls of different tensors use both directions of a NIC at once") {
  SmallPlan small = slow_network(test::resnet18());
  small.knobs.edit<ServerOptions>().servers = 1;
  const double one_way = 3 * parameter_bytes(small) / (0.97 * kNic);
  const double step = run_plan(small, "parameter_server").last_step_s();
  CHECK(step >= one_way);
  CHECK(step <
        1.75 * one_way);  // all tensors share the NIC, so the large ones arrive late and start back late
}

TEST_CASE("as many servers as workers: a node sends as much as in a ring") {
  const SmallPlan small = slow_network(test::resnet18());
  const double ring = 2.0 * 3 / 4 * parameter_bytes(small);
  const double sent = bytes_over(plan_of(small, "parameter_server"), first_nic(small), small.steps);
  // 97 % of the wire is payload; tensors below a million elements are not cut, and the first node has the
  // fullest server.
  CHECK(sent > ring);
  CHECK(sent == Approx(ring / 0.97).epsilon(0.10));
  const double step = run_plan(small, "parameter_server").last_step_s();
  CHECK(step >= sent / kNic);
  CHECK(step == Approx(sent / kNic).epsilon(0.10));
}

TEST_CASE("a worker cannot be faster than its own bytes, however many servers there are") {
  SmallPlan small = slow_network(test::resnet18());
  small.knobs.edit<ServerOptions>().servers = 64;
  CHECK(run_plan(small, "parameter_server").last_step_s() >= 2.0 * 3 / 4 * parameter_bytes(small) / kNic);
}

TEST_CASE("BytePS is bound by the bytes of the node with the fullest server") {
  const SmallPlan small = slow_network(test::resnet18());
  const Plan plan = plan_of(small, "byteps");
  const double sent = bytes_over(plan, first_nic(small), small.steps);
  const double step = run_plan(small, "byteps").last_step_s();
  CHECK(sent >= 2.0 * 3 / 4 * parameter_bytes(small));
  CHECK(step >= sent / kNic);
  CHECK(step < 1.4 * sent / kNic);  // partitions of 4 MB, one in six of all bytes for three workers: the
                                    // first goes in and the last out alone
}

TEST_CASE(
    "with servers on machines of their own a node sends all parameters once, half of a ring on many nodes") {
  SmallPlan small = slow_network(test::resnet18());
  small.knobs.edit<ServerOptions>().dedicated_servers = true;
  for (const char* strategy : {"byteps", "parameter_server"}) {
    for (const int servers : {1, 3, 4, 16}) {
      small.knobs.edit<ServerOptions>().servers = servers;
      const double sent = bytes_over(plan_of(small, strategy), first_nic(small), small.steps);
      CHECK(sent == Approx(parameter_bytes(small) / 0.97).epsilon(1e-6));
    }
  }
}

TEST_CASE("one server on a machine of its own takes all parameters of four workers") {
  SmallPlan small = slow_network(test::resnet18());
  small.knobs.edit<ServerOptions>().dedicated_servers = true;
  small.knobs.edit<ServerOptions>().servers = 1;
  const double one_way = 4 * parameter_bytes(small) / (0.97 * kNic);
  for (const char* strategy : {"byteps", "parameter_server"}) {
    const double step = run_plan(small, strategy).last_step_s();
    CHECK(step >= one_way);
    CHECK(step < 1.75 * one_way);  // pulls follow pushes in the other direction
  }
}

TEST_CASE("asynchronous workers are held back by the same NICs") {
  SmallPlan small = slow_network(test::mnist_net()), free = small;
  free.knobs.edit<ParameterServerOptions>().asynchronous = true;
  CHECK(run_plan(free, "parameter_server").last_step_s() ==
        Approx(run_plan(small, "parameter_server").last_step_s()).epsilon(0.02));
}

}  // namespace parameter_server_physics

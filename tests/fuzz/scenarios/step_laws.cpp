// Laws of the step: its accounts sum to it, wider links and faster GPUs make it no longer, and which of alike
// nodes a job gets does not matter.
#include "tests/fuzz/scenarios/step_laws.hpp"

#include <cmath>
#include <numeric>

#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain::test {

namespace {

/// What a faster machine may lose: a relay over NVLink costs its latency (tests/laws/bandwidth_laws.cpp).
constexpr double kRelayed = 0.005;
/// Sums of floating-point numbers in another order.
constexpr double kSame = 1e-9;

bool is_same(double a, double b) { return std::abs(a - b) <= kSame * std::max(std::abs(a), std::abs(b)); }

double step_of(const Scenario& scenario) {
  const StepSimulator simulator(scenario, scenario.gpus.back());
  return simulator.step_s(scenario.gpus.back(), default_device_model(scenario));
}

void check_accounts(const PredictionPoint& point) {
  const double sum = std::accumulate(point.breakdown.begin(), point.breakdown.end(), 0.0);
  law(std::isfinite(point.step_s) && point.step_s > 0, "a step takes time");
  law(is_same(sum, point.step_s), "the breakdown sums to the step");
  for (const double account : point.breakdown) law(account >= 0, "no account is negative");
  law(point.total_s >= point.overhead.total_s(), "the run has its overheads");
  law(point.memory.least() <= point.memory.total() && point.memory.least().count > 0,
      "memory is not negative");
  law(is_same(point.samples_per_s * point.step_s, static_cast<double>(point.global_batch)) ||
          !point.unlike.empty() ||
          point.samples_per_s * point.step_s <= static_cast<double>(point.global_batch),
      "no more samples a second than its batches have");
}

/// Asynchronous cycles and hand-shakes meet other moments on a faster machine, and may just miss one.
bool is_monotone(const Scenario& scenario) {
  return scenario.strategy != "horovod" && scenario.strategy != "byteps";
}

void check_faster_machine(Scenario scenario, double before) {
  scenario.cluster.link_speed *= 2;
  law(step_of(scenario) <= before * (1 + kRelayed), "faster links make no step longer");
  scenario.cluster.kernel_speed *= 2;
  law(step_of(scenario) <= before * (1 + kRelayed), "faster links and GPUs make no step longer");
}

/// The books that NCCL chooses by stay as they are: its choice on wider links may be worse for these ones.
void check_wider_network(Scenario scenario, double before) {
  for (LinkType* link : {&scenario.cluster.fabric.link, &scenario.cluster.fabric.uplink}) {
    if (link->nccl_bandwidth.per_second <= 0) link->nccl_bandwidth = link->bandwidth;
    link->bandwidth = link->bandwidth * 2, link->flow_bandwidth = link->flow_bandwidth * 2;
  }
  law(step_of(scenario) <= before * (1 + kRelayed), "a wider network makes no step longer");
}

void check_alike_nodes(Scenario scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const bool has_spare = scenario.gpus.back() <= (cluster.nodes - 1) * cluster.node.gpus;
  if (cluster.fabric.kind != "star" || !has_spare || !scenario.launch.left_out.empty()) return;
  scenario.launch.left_out = {0};
  const double without_first = step_of(scenario);
  scenario.launch.left_out = {cluster.nodes - 1};
  law(is_same(without_first, step_of(scenario)), "which of alike nodes a job has does not matter");
}

}  // namespace

void check_same_step(const Scenario& scenario, const Scenario& in_other_units) {
  law(is_same(step_of(scenario), step_of(in_other_units)), "units of the files do not matter");
}

void check_step_laws(const Scenario& scenario) {
  PointPredictor predictor(scenario, scenario.gpus.back());
  Decisions decisions;
  const PredictionPoint point = predictor.point(scenario.gpus.back(), decisions);
  check_accounts(point);
  const double step = step_of(scenario);
  law(step == step_of(scenario), "the same question has the same answer");
  if (is_monotone(scenario)) {
    check_faster_machine(scenario, step);
    if (scenario.cluster.nodes > 1) check_wider_network(scenario, step);
  }
  check_alike_nodes(scenario);
}

}  // namespace foretrain::test

// A small step as a trace: names, lanes and markers; and what a whole prediction's trace has.
#include "sim/report/prediction/chrome_trace.hpp"

#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "sim/analysis/predict.hpp"
#include "sim/engine/executor.hpp"
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"

namespace chrome_trace_test {

using namespace foretrain;
using Json = nlohmann::json;

namespace {

/// Loader, forward and backward of one layer, an all-reduce, the optimizer, and a stream that nothing uses.
struct Step {
  TaskGraph graph;
  std::vector<std::string> layers{"conv1"};
  std::vector<TaskId> step_ends;

  Step() {
    const QueueId loader = graph.add_queue("loader workers"), main = graph.add_queue("main thread"),
                  autograd = graph.add_queue("autograd thread"), stream = graph.add_queue("compute stream"),
                  nccl = graph.add_queue("NCCL stream");
    graph.add_queue("copy stream");
    const LabelId conv = graph.label("conv1"), optimizer = graph.label("optimizer"),
                  sum = graph.label("all_reduce bucket 0");
    const Time us = microseconds(1);
    const TaskId loaded = graph.add({.queue = loader, .duration = us});
    graph.add({.queue = main, .duration = us}, {{loaded}});
    launch(main, stream, TaskKind::kernel, conv);
    const TaskId backward = launch(autograd, stream, TaskKind::kernel, conv);
    graph.add({.kind = TaskKind::collective, .queue = nccl, .duration = us, .label = sum}, {{backward}});
    graph.add({.queue = main, .duration = us}, {{backward}});
    step_ends.push_back(launch(main, stream, TaskKind::kernel, optimizer));
  }

  TaskId launch(QueueId thread, QueueId stream, TaskKind kind, LabelId label) {
    const TaskId call = graph.add({.queue = thread, .duration = microseconds(1)});
    return graph.add({.kind = kind, .queue = stream, .duration = microseconds(2), .label = label}, {{call}});
  }
};

Json traced() {
  Step step;
  const Timeline timeline = run(step.graph, [](LinkId) { return ByteRate{}; });
  return Json::parse(
      write_chrome_trace({{step.graph, timeline, step.step_ends, step.layers}}))["traceEvents"];
}

std::vector<std::string> names_of(const Json& events, const std::string& kind) {
  std::vector<std::string> names;
  for (const Json& event : events) {
    if (event["ph"] == kind && event.value("tid", 0) >= 10) names.push_back(event["name"]);
  }
  return names;
}

}  // namespace

TEST_CASE("slices are named by what they are, in the order of their times") {
  CHECK(names_of(traced(), "X") ==
        std::vector<std::string>{"load and decode a batch", "launch backward conv1", "next(loader)",
                                 "launch forward conv1", "forward conv1", "backward conv1",
                                 "all_reduce bucket 0", "Python", "launch optimizer.step", "optimizer.step"});
}

TEST_CASE("lanes on which nothing happens are left out, and steps end with a marker") {
  const Json events = traced();
  std::vector<std::string> lanes;
  for (const Json& event : events) {
    if (event["name"] == "thread_name") lanes.push_back(event["args"]["name"]);
  }
  CHECK(lanes == std::vector<std::string>{"steps", "where the step goes", "loader workers", "main thread",
                                          "autograd thread", "compute stream", "NCCL stream"});
  CHECK(events.dump().find("end of step 1") != std::string::npos);
}

TEST_CASE("the trace of a DDP step on 16 GPUs is in order, nested and paired, and sums to the breakdown") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const Scenario scenario = read_scenario(
      {"s.toml",
       "[model]\nname = \"resnet50\"\n[cluster]\nname = \"puhti\"\n[strategy]\nname = \"ddp\"\n[run]\ngpus "
       "= [1, 16]\n"},
      {});
  const PredictionPoint point = predict(scenario).points.back();
  const Json trace = Json::parse(write_trace(recording_of(scenario, {}), scenario, point.memory, 3));
  std::map<std::pair<int, int>, double> ends;
  std::map<std::string, double> sums;
  std::map<int, std::string> flows;
  double last = 0, begin = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == "ProfilerStep#2") begin = event["ts"];
  }
  REQUIRE(begin > 0);
  for (const Json& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "M") continue;
    const double at = event["ts"];
    CHECK(at >= last);
    last = at;
    if (phase == "X") {
      double& end = ends[{event["pid"], event["tid"]}];
      CHECK(at >= end - 1e-6);
      end = at + event["dur"].get<double>();
      if (event["cat"] == "breakdown" && at >= begin - 1e-6)
        sums[event["name"]] += event["dur"].get<double>();
    }
    if (phase == "C") {
      for (const auto& [series, value] : event["args"].items()) {
        CHECK(value >= 0);
        if (series == "%") CHECK(value <= 100);
        if (series == "MiB") CHECK(value <= static_cast<double>(point.memory.total().count) / (1 << 20));
      }
    }
    if (phase == "s" || phase == "t" || phase == "f") flows[event["id"]] += phase;
  }
  CHECK(flows.size() > 100);
  for (const auto& [id, phases] : flows) CHECK(phases == "stf");
  const std::vector<std::string> accounts{
      "compute", "exposed_communication", "input_stall", "host", "optimizer", "other"};
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    INFO(accounts[i]);
    CHECK(std::abs(sums[accounts[i]] - point.breakdown[i] * 1e6) < 1e-3);
  }
}

TEST_CASE("hostile names of layers stay text in a trace") {
  TaskGraph graph;
  const std::string name = "a\"},{\"ph\":\"X\" <script>\xff";
  const QueueId stream = graph.add_queue("compute stream");
  const TaskId task = graph.add(
      {.kind = TaskKind::kernel, .queue = stream, .duration = microseconds(1), .label = graph.label(name)});
  const Timeline timeline = run(graph, [](LinkId) { return ByteRate{}; });
  const Json trace = Json::parse(write_chrome_trace({{graph, timeline, {task}, {name}}}));
  CHECK(names_of(trace["traceEvents"], "X") ==
        std::vector<std::string>{"a\"},{\"ph\":\"X\" <script>\xEF\xBF\xBD"});
}

}  // namespace chrome_trace_test

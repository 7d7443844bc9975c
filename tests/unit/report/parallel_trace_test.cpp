// Traces of large models: a process for each stage, and nothing ends after the step.
#include "sim/report/prediction/parallel_trace.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_trace_test {

using namespace foretrain;
using Json = nlohmann::json;
using test::job_of;
using test::StepOfJob;

namespace {

struct Trace {
  LargeStepRecord record;
  Json json;
};

Trace trace_of(const Degrees& degrees, std::int64_t micro_batches,
               PipelineSchedule schedule = PipelineSchedule::one_f_one_b) {
  StepOfJob site(job_of(test::four_layers_shape(), degrees, micro_batches));
  if (degrees.virtual_stages == 1) site.job.schedule = schedule;
  LargeStepRecord record = site.record();
  Json json = Json::parse(write_parallel_trace(record));
  return {std::move(record), std::move(json)};
}

std::set<std::string> names_of(const Json& trace, const std::string& kind) {
  std::set<std::string> names;
  for (const Json& event : trace["traceEvents"])
    if (event["name"] == kind) names.insert(event["args"]["name"].get<std::string>());
  return names;
}

double last_end_us(const Json& trace) {
  double last = 0;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "X") last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
  return last;
}

}  // namespace

TEST_CASE("the last end of a trace is the step, whatever the schedule and the number of micro-batches") {
  for (const std::int64_t micro_batches : {8, 64}) {
    for (const PipelineSchedule schedule : {PipelineSchedule::one_f_one_b, PipelineSchedule::afab,
                                            PipelineSchedule::zb_h1, PipelineSchedule::dualpipe}) {
      const Trace trace = trace_of({.tensor = 2, .pipeline = 2, .data = 2}, micro_batches, schedule);
      INFO(name_of(schedule) << ", " << micro_batches);
      CHECK(last_end_us(trace.json) == Approx(1e6 * trace.record.step.step_s).epsilon(1e-7));
    }
  }
}

TEST_CASE("each stage is a process with its layers and the ranks that it stands for") {
  const Trace trace = trace_of({.tensor = 2, .pipeline = 2, .data = 2}, 8);
  CHECK(names_of(trace.json, "process_name") ==
        std::set<std::string>{"stage 0: embedding, 2 layers, rank 0 (stands for 4 ranks)",
                              "stage 1: 2 layers, head, rank 4 (stands for 4 ranks)"});
  const std::set<std::string> tracks = names_of(trace.json, "thread_name");
  for (const char* track :
       {"step", "passes", "activations sent", "gradients received", "gradients of data-parallel ranks",
        "first micro-batch: kernels", "first micro-batch: tensor exchanges"})
    CHECK(tracks.contains(track));
}

TEST_CASE("micro-batches that are left out are said to be, on the stages and in a note") {
  const Trace trace = trace_of({.pipeline = 2}, 64);
  REQUIRE(trace.record.left_out > 0);
  const std::string gap = std::to_string(trace.record.left_out) + " micro-batches more, alike, not shown";
  const auto shown = std::ranges::count_if(trace.json["traceEvents"],
                                           [&](const Json& event) { return event["name"] == gap; });
  CHECK(shown == 2);
  CHECK_THAT(trace.json["otherData"]["notes"].dump(), ContainsSubstring("of 64 micro-batches in the middle"));
}

TEST_CASE("passes of chunks say which, and carry what they spent") {
  const Trace trace = trace_of({.pipeline = 2, .virtual_stages = 2}, 8);
  const Json& events = trace.json["traceEvents"];
  const auto pass =
      std::ranges::find_if(events, [](const Json& event) { return event["name"] == "forward 0, chunk 3"; });
  REQUIRE(pass != events.end());
  CHECK((*pass)["args"]["layers"] == 1);
  CHECK((*pass)["args"]["compute_us"].get<double>() > 0);
  CHECK((*pass)["pid"] == 2);
}

}  // namespace parallel_trace_test

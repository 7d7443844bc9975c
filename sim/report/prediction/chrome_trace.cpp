// Written by hand, line by line: a trace has thousands of small events and one fixed form.
#include "sim/report/prediction/chrome_trace.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/prediction/trace_names.hpp"

namespace foretrain {

namespace {

std::string json_string(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// By queue: whether anything on it takes time.
std::vector<bool> busy_queues(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<bool> busy(graph.queues().size(), false);
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    if (timeline.spans[id].end > timeline.spans[id].start) busy[graph.tasks()[id].queue] = true;
  }
  return busy;
}

std::string lanes(const TaskGraph& graph, const std::vector<bool>& busy) {
  std::string out;
  for (QueueId queue = 0; queue < graph.queues().size(); ++queue) {
    if (busy[queue])
      out += fmt::format(
          "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":{},\"args\":{{\"name\":{}}}}},\n", queue,
          json_string(graph.queues()[queue].name));
  }
  return out;
}

std::string slices(const TaskGraph& graph, const Timeline& timeline, const TraceContext& context) {
  std::string out;
  const std::vector<std::string> names = trace_names(graph, context);
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    const Span& span = timeline.spans[id];
    if (span.end == span.start) continue;
    out += fmt::format(
        "{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":0,\"tid\":{},\"ts\":{:.6f},\"dur\":{:.6f}}},\n",
        json_string(names[id]), name_of(task.kind), task.queue, to_microseconds(span.start),
        to_microseconds(span.end - span.start));
  }
  return out;
}

std::string step_markers(const Timeline& timeline, const TraceContext& context) {
  std::string out;
  for (std::size_t step = 0; step < context.step_ends.size(); ++step)
    out += fmt::format(
        "{{\"ph\":\"i\",\"name\":\"end of step {}\",\"s\":\"p\",\"pid\":0,\"tid\":0,\"ts\":{:.6f}}},\n",
        step + 1, to_microseconds(timeline.spans[context.step_ends[step]].end));
  return out;
}

}  // namespace

std::string write_chrome_trace(const TaskGraph& graph, const Timeline& timeline,
                               const TraceContext& context) {
  return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + lanes(graph, busy_queues(graph, timeline)) +
         slices(graph, timeline, context) + step_markers(timeline, context) +
         "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"rank 0\"}}\n]}\n";
}

}  // namespace foretrain

// Written by hand, line by line: a trace has thousands of small events and one fixed form.
#include "sim/report/prediction/chrome_trace.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace foretrain {

namespace {

std::string json_string(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string_view name_of_kind(TaskKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"host", "kernel", "copy", "collective", "wait"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string write_chrome_trace(const TaskGraph& graph, const Timeline& timeline) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (QueueId queue = 0; queue < graph.queues().size(); ++queue) {
    out += fmt::format(
        "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":{},\"args\":{{\"name\":{}}}}},\n", queue,
        json_string(graph.queues()[queue].name));
  }
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    const Span& span = timeline.spans[id];
    if (span.end == span.start) continue;
    const std::string_view label = graph.label_text(task.label);
    out += fmt::format(
        "{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":0,\"tid\":{},\"ts\":{:.6f},\"dur\":{:.6f}}},\n",
        json_string(label.empty() ? name_of_kind(task.kind) : label), name_of_kind(task.kind), task.queue,
        to_microseconds(span.start), to_microseconds(span.end - span.start));
  }
  return out + "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"rank 0\"}}\n]}\n";
}

}  // namespace foretrain

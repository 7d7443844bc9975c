// Writes steps in the Trace Event Format. Lines are written by hand, because a trace has thousands of small
// events in a few fixed forms.
#include "sim/report/prediction/chrome_trace.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/prediction/trace_events.hpp"
#include "sim/report/prediction/trace_names.hpp"

namespace foretrain {

// Invalid UTF-8 is replaced, since names come from files.
std::string json_string(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The clock's tick is 1 ps, so six decimals are exact.
std::string trace_microseconds(Time time) {
  constexpr std::int64_t kTicks = 1'000'000;
  return fmt::format("{}.{:06}", time.count() / kTicks, time.count() % kTicks);
}

// ph X: a span with a duration.
void TraceEvents::span(int process, std::size_t thread, const std::string& name, std::string_view category,
                       Time start, Time end, const TraceArguments& arguments) {
  std::string line = fmt::format(
      "{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{",
      json_string(name), category, process, thread, trace_microseconds(start),
      trace_microseconds(end - start));
  for (const auto& [key, value] : arguments)
    line += fmt::format("{}\"{}\":{}", line.back() == '{' ? "" : ",", key, value);
  events_.push_back({start, line + "}}"});
}

// ph C: a value over time.
void TraceEvents::counter(int process, std::string_view name, Time at, std::string_view series,
                          double value) {
  events_.push_back(
      {at,
       fmt::format("{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"tid\":0,\"ts\":{},\"args\":{{\"{}\":{:.3f}}}}}",
                   json_string(name), process, trace_microseconds(at), series, value)});
}

// ph s, t or f: an arrow between spans; "bp":"e" binds it to the enclosing span.
void TraceEvents::flow(char phase, std::size_t id, int process, std::size_t thread, std::string_view name,
                       Time at) {
  events_.push_back({at, fmt::format("{{\"ph\":\"{}\",\"id\":{},\"name\":\"{}\",\"cat\":\"gradient\",\"pid\":"
                                     "{},\"tid\":{},\"ts\":{}{}}}",
                                     phase, id, name, process, thread, trace_microseconds(at),
                                     phase == 'f' ? ",\"bp\":\"e\"" : "")});
}

// ph M: names, and indices that fix the order.
void TraceEvents::process_name(int process, const std::string& name) {
  names_ += fmt::format(
      "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{0},\"tid\":0,\"args\":{{\"name\":{1}}}}},\n"
      "{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{0},\"tid\":0,\"args\":{{\"sort_index\":{0}}}}}"
      ","
      "\n",
      process, json_string(name));
}

void TraceEvents::thread_name(int process, std::size_t thread, const std::string& name) {
  names_ += fmt::format(
      "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{0},\"tid\":{1},\"args\":{{\"name\":{2}}}}},\n"
      "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{0},\"tid\":{1},\"args\":{{\"sort_index\":{1}}}}"
      "},"
      "\n",
      process, thread, json_string(name));
}

// ph i: a mark across a whole process.
void TraceEvents::instant(int process, std::size_t thread, const std::string& name, Time at) {
  events_.push_back(
      {at, fmt::format("{{\"ph\":\"i\",\"name\":{},\"s\":\"p\",\"pid\":{},\"tid\":{},\"ts\":{}}}",
                       json_string(name), process, thread, trace_microseconds(at))});
}

// Events are in order of time. The comma behind the last one is removed.
std::string TraceEvents::lines() {
  std::ranges::stable_sort(events_, {}, &ChromeEvent::at);
  std::string out = names_;
  for (const ChromeEvent& event : events_) out += event.line + ",\n";
  if (!out.empty()) out.resize(out.size() - 2);
  return out + "\n";
}

// Names of the parts of a step, in the order of Account.
std::string_view account_name(std::size_t account) {
  static constexpr std::array<std::string_view, kAccountCount> kNames{
      "compute", "exposed_communication", "input_stall", "host", "optimizer", "other"};
  return kNames[std::min(account, kNames.size() - 1)];
}

namespace {

/// Adds the task that this one waited for, when it is on another queue: on the same queue the order explains
/// the wait.
void add_cause(const RankTrace& trace, TaskId id, TraceArguments& arguments) {
  const Span& span = trace.rank.timeline.spans[id];
  // The task waited for nothing.
  if (span.released_by == kNone) return;
  const Task& before = trace.rank.graph.tasks()[span.released_by];
  if (before.queue == trace.rank.graph.tasks()[id].queue) return;
  arguments.emplace_back("waited_for",
                         json_string(fmt::format("{} on {}", trace.names[span.released_by],
                                                 trace.rank.graph.queues()[before.queue].name)));
  arguments.emplace_back("released_us", trace_microseconds(span.start - span.lag));
}

/// Adds the layer of a kernel, and the FLOPs and bytes of its pass.
void add_layer(const RankTrace& trace, TaskId id, TraceArguments& arguments) {
  const std::string& name = trace.names[id];
  const bool backward = name.starts_with("backward ");
  if (!backward && !name.starts_with("forward ")) return;
  const std::string layer = name.substr(name.find(' ') + 1);
  arguments.emplace_back("layer", json_string(layer));
  const auto found = std::ranges::find(trace.rank.layers, layer);
  const auto place = static_cast<std::size_t>(found - trace.rank.layers.begin());
  if (place >= trace.rank.work.size()) return;
  const LayerWork& work = trace.rank.work[place];
  arguments.emplace_back("pass_flops",
                         fmt::format("{:.0f}", backward ? work.backward_flops : work.forward_flops));
  arguments.emplace_back("pass_bytes",
                         fmt::format("{:.0f}", backward ? work.backward_bytes : work.forward_bytes));
}

/// Returns everything that a click on the span shows.
TraceArguments arguments_of(const RankTrace& trace, TaskId id) {
  const Task& task = trace.rank.graph.tasks()[id];
  TraceArguments arguments{{"account", fmt::format("\"{}\"", account_name(task.account))}};
  if (task.kind == TaskKind::kernel) add_layer(trace, id, arguments);
  if (task.traffic.count > 0) arguments.emplace_back("bytes", std::to_string(task.traffic.count));
  add_cause(trace, id, arguments);
  return arguments;
}

/// Adds the spans of all tasks, and names for the queues that have any.
void add_queues(const RankTrace& trace) {
  const TaskGraph& graph = trace.rank.graph;
  std::vector<bool> busy(graph.queues().size(), false);
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    if (!trace.shows(id)) continue;
    const Span& span = trace.rank.timeline.spans[id];
    busy[graph.tasks()[id].queue] = true;
    trace.events.span(trace.process, trace.thread_of(id), trace.names[id], name_of(graph.tasks()[id].kind),
                      span.start, span.end, arguments_of(trace, id));
  }
  for (QueueId queue = 0; queue < graph.queues().size(); ++queue) {
    if (busy[queue])
      trace.events.thread_name(trace.process, RankTrace::kFirstQueue + queue, graph.queues()[queue].name);
  }
}

/// Adds a span for each step, and a mark at its end. "ProfilerStep#N" is the name that PyTorch's profiler
/// uses.
void add_steps(const RankTrace& trace) {
  Time begin{};
  trace.events.thread_name(trace.process, RankTrace::kSteps, "steps");
  for (std::size_t step = 0; step < trace.rank.step_ends.size(); ++step) {
    const Time end = trace.rank.timeline.end_of(trace.rank.step_ends[step]);
    if (begin >= trace.from && end > begin) {
      trace.events.span(trace.process, RankTrace::kSteps, fmt::format("ProfilerStep#{}", step), "step", begin,
                        end);
      trace.events.instant(trace.process, RankTrace::kSteps, fmt::format("end of step {}", step + 1), end);
    }
    begin = end;
  }
}

/// Returns the time at which the last `steps` steps begin.
Time beginning_of(const TracedRank& rank, int steps) {
  const std::size_t all = rank.step_ends.size(), shown = static_cast<std::size_t>(std::max(1, steps));
  return all <= shown ? Time{} : rank.timeline.end_of(rank.step_ends[all - shown - 1]);
}

}  // namespace

// Each rank is a process; the links at its node are another one.
std::string write_chrome_trace(const std::vector<TracedRank>& ranks, const TraceRequest& request) {
  TraceEvents events;
  int process = 0;
  for (const TracedRank& rank : ranks) {
    const std::vector<std::string> names = trace_names(rank.graph, rank.layers);
    const RankTrace trace{rank, ++process, beginning_of(rank, request.steps), names, events};
    events.process_name(process, rank.name);
    add_steps(trace);
    add_accounts(trace);
    add_queues(trace);
    add_flows(trace);
    add_counters(trace);
    // Jobs on one GPU have no links.
    if (rank.links.empty()) continue;
    events.process_name(++process, "links at the node of " + rank.name);
    add_links(trace, process);
  }
  std::string notes;
  for (const std::string& note : request.notes) notes += (notes.empty() ? "" : ",") + json_string(note);
  return "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"notes\":[" + notes + "]},\"traceEvents\":[\n" +
         events.lines() + "]}\n";
}

// Work of each layer is summed over its operators.
std::vector<LayerWork> layer_work(const ExpandedModel& model, double batch) {
  std::vector<LayerWork> work(model.layer_names.size());
  for (const Operator& op : model.forward) {
    work[op.layer].forward_flops += op.flops.at(batch);
    work[op.layer].forward_bytes += op.bytes.at(batch);
  }
  for (const BackwardStep& step : model.backward) {
    work[step.op.layer].backward_flops += step.op.flops.at(batch);
    work[step.op.layer].backward_bytes += step.op.bytes.at(batch);
  }
  for (std::size_t layer = 0; layer < std::min(work.size(), model.layer_traces.size()); ++layer)
    work[layer].kept_bytes = model.layer_traces[layer].saved_bytes.at(batch);
  return work;
}

}  // namespace foretrain

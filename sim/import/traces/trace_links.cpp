// Links the work of a GPU to the calls that asked for it. Launch and kernel share a correlation number, and a
// launch lies within the operators that are open on its thread at that moment.
//
// Events are sorted by start with outer calls first, so one pass with a stack for each thread finds what is
// open. The whole takes O(n log n) for n events, because of the searches by number.
#include <algorithm>
#include <utility>

#include "sim/import/traces/trace_steps.hpp"

namespace foretrain {

namespace {

/// Number that links events, and index in Trace::events.
using NumberedEvent = std::pair<std::uint32_t, std::uint32_t>;

/// Returns the event with a number, or kNone. Binary search.
std::uint32_t event_with(const std::vector<NumberedEvent>& sorted, std::uint32_t number) {
  const auto found = std::ranges::lower_bound(sorted, number, {}, &NumberedEvent::first);
  return found == sorted.end() || found->first != number ? TraceLink::kNone : found->second;
}

/// The calls that are open on a thread at a moment, outermost first.
struct OpenCalls {
  std::vector<std::uint32_t> ops, marks;
};

/// Removes the calls that have ended by `now`.
void drop_ended(const Trace& trace, std::vector<std::uint32_t>& open, std::int64_t now) {
  while (!open.empty() && trace.events[open.back()].end() <= now) open.pop_back();
}

/// Returns the outermost open call, or kNone.
std::uint32_t outermost(const std::vector<std::uint32_t>& open) {
  return open.empty() ? TraceLink::kNone : open.front();
}

/// Returns the innermost open call, or kNone.
std::uint32_t innermost(const std::vector<std::uint32_t>& open) {
  return open.empty() ? TraceLink::kNone : open.back();
}

/// Launches by correlation number, with what was open around them, and operators by their number.
struct CallIndex {
  std::vector<NumberedEvent> launches, ops;
  // Links of launches, in the order in which they were found.
  std::vector<TraceLink> links;
};

/// Stores what is open around a launch.
void put_around(TraceLink& link, const OpenCalls& open) {
  link.op = innermost(open.ops);
  link.outer = outermost(open.ops);
  link.annotation = innermost(open.marks);
  link.mark = outermost(open.marks);
}

/// Walks the events of the host. Marks of the profiler's steps are left out, since everything lies in one.
CallIndex index_calls(const Trace& trace) {
  CallIndex out;
  std::vector<OpenCalls> lanes(trace.lanes.size());
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    if (is_device(event.kind)) continue;
    OpenCalls& open = lanes[event.lane];
    // Whatever has ended before this event is no longer open.
    drop_ended(trace, open.ops, event.start);
    drop_ended(trace, open.marks, event.start);
    if (event.kind == TraceKind::op) {
      open.ops.push_back(i);
      if (event.external > 0) out.ops.emplace_back(event.external, i);
    } else if (event.kind == TraceKind::annotation) {
      if (!is_step_mark(trace.name_of(event))) open.marks.push_back(i);
      // A call of the runtime: it keeps what is open around it.
    } else if (event.correlation > 0) {
      TraceLink link;
      link.launch = i;
      put_around(link, open);
      out.launches.emplace_back(event.correlation, static_cast<std::uint32_t>(out.links.size()));
      out.links.push_back(link);
    }
  }
  std::ranges::sort(out.launches);
  std::ranges::sort(out.ops);
  return out;
}

}  // namespace

std::vector<TraceLink> link_activities(const Trace& trace) {
  const CallIndex calls = index_calls(trace);
  std::vector<TraceLink> out;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    if (!is_device(event.kind)) continue;
    TraceLink link;
    const std::uint32_t launch =
        event.correlation > 0 ? event_with(calls.launches, event.correlation) : TraceLink::kNone;
    // A launch tells most. The operator's number is used only where it is not a copy of the correlation, as
    // some versions write it.
    if (launch != TraceLink::kNone)
      link = calls.links[launch];
    else if (event.external > 0 && event.external != event.correlation)
      link.op = link.outer = event_with(calls.ops, event.external);
    link.activity = i;
    out.push_back(link);
  }
  return out;
}

std::int64_t asked_at(const Trace& trace, const TraceLink& link) {
  return trace.events[link.launch != TraceLink::kNone ? link.launch : link.activity].start;
}

}  // namespace foretrain

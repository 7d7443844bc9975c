// The events of a trace before they are put in order, and what each part of it adds to them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/prediction/chrome_trace.hpp"

namespace foretrain {

/// One event: its time, and its line without the time's field.
struct ChromeEvent {
  Time at;
  std::string line;
};

using TraceArguments = std::vector<std::pair<std::string_view, std::string>>;  ///< values are JSON

/// A number of events, and the numbers that processes and flows go by.
class TraceEvents {
 public:
  /// What has a length ("X").
  void span(int process, std::size_t thread, const std::string& name, std::string_view category, Time start,
            Time end, const TraceArguments& arguments = {});
  /// A value from `at` on ("C"); `series` is what it counts.
  void counter(int process, std::string_view name, Time at, std::string_view series, double value);
  /// One stop of an arrow: phase "s" where it begins, "t" on its way, "f" where it ends.
  void flow(char phase, std::size_t id, int process, std::size_t thread, std::string_view name, Time at);
  void process_name(int process, const std::string& name);
  void thread_name(int process, std::size_t thread, const std::string& name);
  void instant(int process, std::size_t thread, const std::string& name, Time at);
  std::size_t new_flow() { return ++flows_; }
  /// Names first, then everything by time; a line each.
  std::string lines();

 private:
  std::string names_;
  std::vector<ChromeEvent> events_;
  std::size_t flows_ = 0;
};

/// Any text as a JSON string, with what is not UTF-8 replaced.
std::string json_string(std::string_view text);
/// Exact, as in 12.000345.
std::string trace_microseconds(Time time);

/// The rank that is being written, and from when on.
struct RankTrace {
  const TracedRank& rank;
  int process = 1;
  Time from{};
  const std::vector<std::string>& names;  ///< by task
  TraceEvents& events;
  bool shows(TaskId id) const {
    const Span& span = rank.timeline.spans[id];
    return span.end > span.start && span.end > from;
  }
  std::size_t thread_of(TaskId id) const { return kFirstQueue + rank.graph.tasks()[id].queue; }
  static constexpr std::size_t kSteps = 1, kAccounts = 2, kFirstQueue = 10;
};

void add_accounts(const RankTrace& trace);  // trace_accounts.cpp: where each step goes, gaps with their cause
void add_flows(const RankTrace& trace);     // trace_flows.cpp: gradient, bucket, collective
void add_counters(const RankTrace& trace);  // trace_counters.cpp: memory, tensors in flight
void add_links(const RankTrace& trace, int process);  // trace_links.cpp: what is on each, and how full it is

std::string_view account_name(std::size_t account);

}  // namespace foretrain

// Events of a trace before they are put in order, and the parts of a trace that add them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/prediction/chrome_trace.hpp"

namespace foretrain {

/// An event: its time for the order, and its line.
struct ChromeEvent {
  Time at;
  std::string line;
};

using TraceArguments = std::vector<std::pair<std::string_view, std::string>>;  ///< values are JSON

/// Collects events, and numbers flows.
class TraceEvents {
 public:
  /// Adds a span with a duration ("X").
  void span(int process, std::size_t thread, const std::string& name, std::string_view category, Time start,
            Time end, const TraceArguments& arguments = {});
  /// Adds the value of a counter from `at` on ("C"); `series` names what it counts.
  void counter(int process, std::string_view name, Time at, std::string_view series, double value);
  /// Adds one stop of an arrow: "s" at its start, "t" on the way, "f" at its end.
  void flow(char phase, std::size_t id, int process, std::size_t thread, std::string_view name, Time at);
  /// Names a process and fixes its place.
  void process_name(int process, const std::string& name);
  /// Names a thread and fixes its place in the process.
  void thread_name(int process, std::size_t thread, const std::string& name);
  /// Adds a mark at one moment ("i").
  void instant(int process, std::size_t thread, const std::string& name, Time at);
  /// Returns a number for a new arrow.
  std::size_t new_flow() { return ++flows_; }
  /// Returns names first and then all events in order of time, one on a line.
  std::string lines();

 private:
  std::string names_;
  std::vector<ChromeEvent> events_;
  std::size_t flows_ = 0;
};

/// Returns any text as a JSON string; invalid UTF-8 is replaced.
std::string json_string(std::string_view text);
/// Returns a time in microseconds with all its digits, such as 12.000345.
std::string trace_microseconds(Time time);

/// The rank that is being written, and the time from which it is shown.
struct RankTrace {
  const TracedRank& rank;
  int process = 1;
  Time from{};
  /// Name of each task.
  const std::vector<std::string>& names;
  TraceEvents& events;
  /// Returns true when the task has a duration and ends within the shown time.
  bool shows(TaskId id) const {
    const Span& span = rank.timeline.spans[id];
    return span.end > span.start && span.end > from;
  }
  /// Returns the thread of the task's queue.
  std::size_t thread_of(TaskId id) const { return kFirstQueue + rank.graph.tasks()[id].queue; }
  // Numbers of threads; queues follow from kFirstQueue on.
  static constexpr std::size_t kSteps = 1, kAccounts = 2, kFirstQueue = 10;
};

/// Adds where each step goes, gaps with their cause (trace_accounts.cpp).
void add_accounts(const RankTrace& trace);
/// Adds arrows from gradients over buckets to collectives (trace_flows.cpp).
void add_flows(const RankTrace& trace);
/// Adds memory and tensors in flight over time (trace_counters.cpp).
void add_counters(const RankTrace& trace);
/// Adds what is on each link and how full it is (trace_links.cpp).
void add_links(const RankTrace& trace, int process);

/// Returns the name of a part of the step's breakdown.
std::string_view account_name(std::size_t account);

}  // namespace foretrain

// Declares the reader of Chrome's trace events as Kineto (torch.profiler) writes them, kept as compact
// records.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/import/traces/json_stream.hpp"
#include "sim/import/traces/trace.hpp"

namespace foretrain {

/// One event while it is read; times in ns.
struct RawEvent {
  char phase = 0;
  std::string name, category;
  std::optional<std::int64_t> process, thread, start, duration;
  std::int64_t correlation = 0, external = 0, sequence = -1, bytes = 0;
  std::optional<std::int64_t> device, stream;
  std::vector<std::string> types;
  /// Sizes of tensors, with lists of tensors flattened.
  std::vector<std::vector<std::int64_t>> dims;
  /// Indices into `dims`, for each argument.
  std::vector<std::vector<std::size_t>> places;
  TraceCollective collective;
  bool has_collective = false;
};

/// Reads the members of a file that matter into `trace`. What cannot be used is left out and counted. Throws
/// InputError for what is no JSON, and above the limits. All references must outlive the object.
class KinetoReader {
 public:
  KinetoReader(JsonStream& json, const TraceLimits& limits, Trace& trace)
      : json_(json), limits_(limits), trace_(trace) {}

  /// Reads the member "traceEvents".
  void events();
  /// Reads the member "deviceProperties".
  void devices();
  /// Reads the member "distributedInfo".
  void distribution();
  /// Reads "baseTimeNanoseconds", which all times count from.
  void base_time();
  /// Completes the trace: adds the base time, sorts the events, and notes what was left out.
  void finish();

 private:
  void event();
  void arguments();
  void argument(std::string_view key);
  bool collective_argument(std::string_view key);
  void input_sizes();
  void input_types();
  void list_of_sizes(std::size_t argument, int depth);
  std::optional<std::int64_t> integer();
  std::optional<std::int64_t> thousandths();
  std::string short_text();
  void keep();
  std::uint32_t detail_of(TraceKind kind);
  std::string sizes_text() const;
  std::uint16_t lane_of(TraceKind kind);
  void leave_out(std::string_view why);

  JsonStream& json_;
  const TraceLimits& limits_;
  Trace& trace_;
  RawEvent raw_;
  SourceSpan place_;
  std::int64_t base_ = 0;
  /// Numbers of lanes by process and thread, or by GPU and stream.
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint16_t> threads_, streams_;
  /// Events that are left out for one reason, and the place of the first.
  struct Exclusion {
    std::size_t count = 0;
    SourceSpan first;
  };
  std::map<std::string, Exclusion, std::less<>> left_out_;
};

}  // namespace foretrain

// Chrome's trace events as Kineto (torch.profiler) writes them, kept as compact records.
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

/// One event while it is read.
struct RawEvent {
  char phase = 0;
  std::string name, category;
  std::optional<std::int64_t> process, thread, start, duration;
  std::int64_t correlation = 0, external = 0, sequence = -1, bytes = 0;
  std::optional<std::int64_t> device, stream;
  std::vector<std::string> types;
  std::vector<std::vector<std::int64_t>> dims;   ///< of tensors, lists flattened
  std::vector<std::vector<std::size_t>> places;  ///< of `dims`, by argument
  TraceCollective collective;
  bool has_collective = false;
};

/// Reads the parts of the file that matter into `trace`; what cannot be used is left out and counted.
class KinetoReader {
 public:
  KinetoReader(JsonStream& json, const TraceLimits& limits, Trace& trace)
      : json_(json), limits_(limits), trace_(trace) {}

  void events();        ///< "traceEvents"
  void devices();       ///< "deviceProperties"
  void distribution();  ///< "distributedInfo"
  void base_time();     ///< "baseTimeNanoseconds", that all times are behind
  /// Puts events in order and says what was left out.
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
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint16_t> threads_, streams_;
  struct Exclusion {
    std::size_t count = 0;
    SourceSpan first;
  };
  std::map<std::string, Exclusion, std::less<>> left_out_;
};

}  // namespace foretrain

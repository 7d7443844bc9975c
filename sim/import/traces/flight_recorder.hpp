// Declares the reader of PyTorch's flight-recorder dumps: the collectives that a process group started, as
// JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/traces/json_stream.hpp"
#include "sim/import/traces/trace.hpp"

namespace foretrain {

/// Returns whether the bytes begin as Python's pickle does, which PyTorch writes unless asked otherwise. A
/// pickle can run code when it is loaded, so it is never read here.
bool is_pickle(std::string_view bytes);
/// Advice for a user who has a pickle: how to write the dump as JSON.
extern const char* const kInsteadOfPickle;

/// Reads the members of a dump into a trace. The format is that of `dump_json` in
/// torch/csrc/distributed/c10d/FlightRecorder.hpp:
///
///   {"version": "2.5", "entries": [{"profiling_name": "nccl:all_reduce", "state": "completed",
///    "duration_ms": 0.4, ...}]}
///
/// Each finished entry with a duration becomes a kernel on the stream of its process group. Durations are
/// there only with TORCH_NCCL_ENABLE_TIMING=1. Messages (send, receive), unfinished entries and unknown types
/// are left out and counted. Throws InputError for what is no JSON, and above the limits.
class FlightRecorderReader {
 public:
  FlightRecorderReader(JsonStream& json, const TraceLimits& limits, Trace& trace)
      : json_(json), limits_(limits), trace_(trace) {}

  /// Reads the member "entries".
  void entries();
  /// Reads the member "pg_config".
  void groups();
  /// Reads the member "nccl_version".
  void version();
  /// Completes the trace: gives collectives the ranks of their groups, sorts the events, and notes what was
  /// left out.
  void finish();

 private:
  /// One entry while it is read; times in ns, the duration in ms.
  struct Entry {
    std::string name, state, group, in_type, out_type;
    std::int64_t in_elements = 0, out_elements = 0;
    double created_ns = 0, started_ns = 0, duration_ms = 0;
    bool is_message = false;
  };
  void entry();
  void keep(const Entry& entry);
  std::string text();
  double number();
  std::string first_text();
  std::int64_t elements();

  JsonStream& json_;
  const TraceLimits& limits_;
  Trace& trace_;
  /// Ranks of each group by its name.
  std::map<std::string, int> ranks_;
  /// Number of the stream that stands for each group.
  std::map<std::string, std::uint16_t> lanes_;
  /// Index in trace_.collectives.
  std::map<TraceCollective, std::uint32_t> places_;
  /// Entries that were left out, by reason.
  std::size_t unfinished_ = 0, untimed_ = 0, messages_ = 0, unknown_ = 0;
};

}  // namespace foretrain

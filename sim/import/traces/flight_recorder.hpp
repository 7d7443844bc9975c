// Dumps of PyTorch's flight recorder: the collectives that a process group started, as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/traces/json_stream.hpp"
#include "sim/import/traces/trace.hpp"

namespace foretrain {

/// Whether the bytes begin as Python's pickle does, which is what PyTorch writes by itself. It can run code
/// when it is loaded, and is never read here.
bool is_pickle(std::string_view bytes);
/// What a user does with one, in words.
extern const char* const kInsteadOfPickle;

/// Reads the members of a dump (torch/csrc/distributed/c10d/FlightRecorder.hpp, `dump_json`) into a trace:
/// each finished entry with a duration is a kernel on the stream of its process group. Durations are there
/// with TORCH_NCCL_ENABLE_TIMING=1.
class FlightRecorderReader {
 public:
  FlightRecorderReader(JsonStream& json, const TraceLimits& limits, Trace& trace)
      : json_(json), limits_(limits), trace_(trace) {}

  void entries();  ///< "entries"
  void groups();   ///< "pg_config"
  void version();  ///< "nccl_version"
  /// Gives collectives the ranks of their groups, puts events in order and says what was left out.
  void finish();

 private:
  /// One entry while it is read.
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
  std::map<std::string, int> ranks_;  ///< of a group by name
  std::map<std::string, std::uint16_t> lanes_;
  std::map<TraceCollective, std::uint32_t> places_;  ///< in trace_.collectives
  std::size_t unfinished_ = 0, untimed_ = 0, messages_ = 0, unknown_ = 0;
};

}  // namespace foretrain

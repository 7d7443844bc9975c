// What a profiler recorded of one process: operators, launches, kernels, copies, in one compact record each.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/import/traces/trace_bytes.hpp"

namespace foretrain {

/// The kinds of event in a profiler's trace.
enum class TraceKind : std::uint8_t { op, annotation, launch, sync, kernel, memcpy, memset };
inline bool is_device(TraceKind kind) { return kind >= TraceKind::kernel; }

/// Times in nanoseconds. 40 bytes, so that a million of them are 40 MB.
struct TraceEvent {
  std::int64_t start = 0, duration = 0;
  std::uint32_t name = 0;         ///< of Trace::names
  std::uint32_t correlation = 0;  ///< of a launch and what it launched; 0: none
  std::uint32_t external = 0;     ///< of an operator and what it called; 0: none
  /// Op: 1 + name of its inputs' sizes; kernel: 1 + place in `collectives`; copies: KiB, rounded up; 0:
  /// none
  std::uint32_t detail = 0;
  std::int32_t sequence = -1;  ///< op: autograd's number, the same forward and backward; -1: none
  std::uint16_t lane = 0;      ///< of Trace::lanes
  TraceKind kind = TraceKind::op;
  std::int64_t end() const { return start + duration; }
};
static_assert(sizeof(TraceEvent) == 40);

/// A thread of the host, or a stream of a GPU.
struct TraceLane {
  std::int64_t process = 0, thread = 0;  ///< of a stream: GPU and stream
  bool is_stream = false;
  friend bool operator==(const TraceLane&, const TraceLane&) = default;
};

/// What a kernel or a record of a collective says of it.
struct TraceCollective {
  std::string op;     ///< "all_reduce", as nccl-tests calls it; empty: not said
  std::string group;  ///< name of the process group
  std::int64_t in_elements = 0, out_elements = 0;
  int element_bytes = 0;
  int ranks = 0;  ///< of the group; 0: not said
  std::int64_t in_bytes() const { return in_elements * element_bytes; }
  std::int64_t out_bytes() const { return out_elements * element_bytes; }
  friend auto operator<=>(const TraceCollective&, const TraceCollective&) = default;
};

/// Each different name once.
class TraceNames {
 public:
  explicit TraceNames(const TraceLimits& limits = {}) : limits_(limits) {}
  /// Throws InputError above the limits.
  std::uint32_t number(std::string_view name);
  const std::string& at(std::uint32_t number) const { return names_[number]; }
  std::size_t size() const { return names_.size(); }

 private:
  TraceLimits limits_;
  std::size_t bytes_ = 0;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// A profiler's trace: events in order of time, with their names in a table.
struct Trace {
  std::string file;
  std::string gpu;                    ///< "NVIDIA A100-PG509-200"; empty: not said
  std::string nccl_version, backend;  ///< "2.17.1", "nccl"; empty: not said
  int rank = -1, ranks = 0;           ///< -1, 0: not said
  TraceNames names;
  std::deque<TraceEvent> events;  ///< by start, longer ones first
  std::vector<TraceLane> lanes;
  std::vector<TraceCollective> collectives;  ///< each different one once
  std::vector<std::string> notes;            ///< what was left out, and why
  const std::string& name_of(const TraceEvent& event) const { return names.at(event.name); }
};

/// Whether a kernel is a collective or a message of NCCL or RCCL.
bool is_collective_kernel(std::string_view name);
/// "all_reduce" of "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" and of "allreduce"; empty when it is none.
std::string collective_of(std::string_view name);
/// Bytes of an element of "Float", "c10::BFloat16", "long int", "Tensor(float)", …; 0 for what is not known.
int element_bytes_of(std::string_view type);
/// The same as it stands in a size of a recorded network: "f32"; empty for what is no tensor.
std::string_view short_type_of(std::string_view type);

}  // namespace foretrain

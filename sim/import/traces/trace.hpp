// Declares a profiler's record of one process: operators, launches, kernels and copies, each as one compact
// record.
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

/// The kinds of event in a profiler's trace. Those from `kernel` on run on the GPU.
enum class TraceKind : std::uint8_t { op, annotation, launch, sync, kernel, memcpy, memset };
/// Returns whether events of a kind run on the GPU.
inline bool is_device(TraceKind kind) { return kind >= TraceKind::kernel; }

/// An event. Times are in nanoseconds. A record has 40 bytes, so a million of them have 40 MB.
struct TraceEvent {
  std::int64_t start = 0, duration = 0;
  /// Index in Trace::names.
  std::uint32_t name = 0;
  /// Number that a launch and what it launched share; 0: none.
  std::uint32_t correlation = 0;
  /// Number that an operator and what it called share; 0: none.
  std::uint32_t external = 0;
  /// For an operator: 1 + name of its inputs' sizes. For a kernel: 1 + index in `collectives`. For copies:
  /// KiB, rounded up. 0: none.
  std::uint32_t detail = 0;
  /// For an operator: autograd's number, the same in forward and backward; -1: none.
  std::int32_t sequence = -1;
  /// Index in Trace::lanes.
  std::uint16_t lane = 0;
  TraceKind kind = TraceKind::op;
  std::int64_t end() const { return start + duration; }
};
static_assert(sizeof(TraceEvent) == 40);

/// A thread of the host, or a stream of a GPU.
struct TraceLane {
  /// For a stream: GPU and stream.
  std::int64_t process = 0, thread = 0;
  bool is_stream = false;
  friend bool operator==(const TraceLane&, const TraceLane&) = default;
};

/// A collective as a kernel or a record describes it.
struct TraceCollective {
  /// Name as in nccl-tests, such as "all_reduce"; empty: not given.
  std::string op;
  /// Name of the process group.
  std::string group;
  std::int64_t in_elements = 0, out_elements = 0;
  int element_bytes = 0;
  /// Ranks of the group; 0: not given.
  int ranks = 0;
  std::int64_t in_bytes() const { return in_elements * element_bytes; }
  std::int64_t out_bytes() const { return out_elements * element_bytes; }
  friend auto operator<=>(const TraceCollective&, const TraceCollective&) = default;
};

/// Stores each different name once and numbers it from 0.
class TraceNames {
 public:
  explicit TraceNames(const TraceLimits& limits = {}) : limits_(limits) {}
  /// Returns the number of a name, new or known. Throws InputError above the limits. Constant time on
  /// average.
  std::uint32_t number(std::string_view name);
  /// Returns the name of a number that number() returned; valid as long as this object.
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
  /// Name that the driver shows, such as "NVIDIA A100-PG509-200"; empty: not given.
  std::string gpu;
  /// Version, such as "2.17.1", and library, such as "nccl"; empty: not given.
  std::string nccl_version, backend;
  /// -1 and 0: not given.
  int rank = -1, ranks = 0;
  TraceNames names;
  /// Events by start; the longer of two with one start comes first.
  std::deque<TraceEvent> events;
  std::vector<TraceLane> lanes;
  /// Different collectives, each once.
  std::vector<TraceCollective> collectives;
  /// Notes on what was left out, and why.
  std::vector<std::string> notes;
  const std::string& name_of(const TraceEvent& event) const { return names.at(event.name); }
};

/// Returns whether a kernel is a collective or a message of NCCL or RCCL.
bool is_collective_kernel(std::string_view name);
/// Returns "all_reduce" for "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" and for "allreduce"; empty when
/// the name is no collective.
std::string collective_of(std::string_view name);
/// Returns the bytes of an element of "Float", "c10::BFloat16", "long int", "Tensor(float)" and so on; 0 for
/// a type that is not known.
int element_bytes_of(std::string_view type);
/// Returns the type as it stands in a size of a recorded network, such as "f32"; empty for what is no tensor.
std::string_view short_type_of(std::string_view type);

}  // namespace foretrain

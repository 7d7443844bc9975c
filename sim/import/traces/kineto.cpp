// Reads Chrome's trace events as Kineto (torch.profiler) writes them. A file has events such as
//
//   {"ph": "X", "cat": "kernel", "name": "ampere_sgemm", "pid": 0, "tid": 7, "ts": 1000.5, "dur": 12.3,
//    "args": {"correlation": 42, "device": 0, "stream": 7}}
//
// Taken are complete events (phase X) of operators, the CUDA runtime and the GPU, with the arguments that
// link them. Flow events are not needed, because the correlation numbers say the same. Frames of Python,
// counters and metadata are skipped. Events without a usable time are left out and counted; more events than
// the limit throw InputError.
#include "sim/import/traces/kineto.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// A category of events and what it means here.
struct Category {
  std::string_view name;
  TraceKind kind;
};

/// Categories in lower case, of several versions of the profiler. What is in no row is skipped: frames of
/// Python, flows, the profiler's own marks.
constexpr std::array kCategories{
    Category{"cpu_op", TraceKind::op},
    Category{"operator", TraceKind::op},
    Category{"kernel", TraceKind::kernel},
    Category{"gpu_memcpy", TraceKind::memcpy},
    Category{"memcpy", TraceKind::memcpy},
    Category{"gpu_memset", TraceKind::memset},
    Category{"memset", TraceKind::memset},
    Category{"cuda_runtime", TraceKind::launch},
    Category{"runtime", TraceKind::launch},
    Category{"cuda_driver", TraceKind::launch},
    Category{"hip_runtime", TraceKind::launch},
    Category{"user_annotation", TraceKind::annotation},
    Category{"annotation", TraceKind::annotation},
};

/// Returns the kind of a category; nothing where it is skipped.
std::optional<TraceKind> kind_of(std::string_view category) {
  const std::string name = lower_case(category);
  for (const Category& row : kCategories) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

/// Returns the kind of a runtime call: those that put work on the GPU, and those that wait for it. Others
/// cost host time only, which the operator around them has.
std::optional<TraceKind> call_kind(std::string_view name) {
  for (const std::string_view part : {"Synchronize", "EventQuery"}) {
    if (name.find(part) != std::string_view::npos)
      return part == "EventQuery" ? std::nullopt : std::optional(TraceKind::sync);
  }
  for (const std::string_view part : {"Launch", "Memcpy", "Memset"}) {
    if (name.find(part) != std::string_view::npos) return TraceKind::launch;
  }
  return std::nullopt;
}

// Limits: arguments of an event and dimensions of a tensor, and the latest time in ns.
constexpr std::size_t kMostArguments = 4096, kMostSides = 16;
constexpr std::int64_t kLatest = std::int64_t{1} << 61;  // of today, in ns: 1.8e18 of 2.3e18

}  // namespace

/// Reads the member "traceEvents".
void KinetoReader::events() {
  json_.array([this] { event(); });
}

/// Takes the name of the first GPU.
void KinetoReader::devices() {
  if (json_.kind() != JsonKind::array) return json_.skip();
  json_.array([this] {
    if (json_.kind() != JsonKind::object) return json_.skip();
    json_.object([this](std::string_view key) {
      if (key == "name" && json_.kind() == JsonKind::string && trace_.gpu.empty())
        trace_.gpu = shortened(json_.string(), 100);
      else
        json_.skip();
    });
  });
}

/// Takes rank, number of ranks, and the versions of the communication library.
void KinetoReader::distribution() {
  if (json_.kind() != JsonKind::object) return json_.skip();
  json_.object([this](std::string_view key) {
    if (key == "rank")
      trace_.rank = static_cast<int>(std::clamp<std::int64_t>(integer().value_or(-1), -1, 10'000'000));
    else if (key == "world_size")
      trace_.ranks = static_cast<int>(std::clamp<std::int64_t>(integer().value_or(0), 0, 10'000'000));
    else if (key == "nccl_version")
      trace_.nccl_version = short_text();
    else if (key == "backend")
      trace_.backend = short_text();
    else
      json_.skip();
  });
}

void KinetoReader::base_time() { base_ = integer().value_or(0); }

/// Returns a whole number, which may stand in quotes; nothing for other values. Newer versions quote what may
/// be a name.
std::optional<std::int64_t> KinetoReader::integer() {
  if (json_.kind() == JsonKind::string) {  // newer versions quote what may be a name
    const std::string& text = json_.string();
    std::int64_t value = 0;
    for (const char c : text) {
      if (c < '0' || c > '9' || value > (std::int64_t{1} << 50)) return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return text.empty() ? std::nullopt : std::optional(value);
  }
  if (json_.kind() != JsonKind::number) return json_.skip(), std::nullopt;
  const double value = json_.number().value;
  if (!(value >= -9e15 && value <= 9e18)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

/// Returns microseconds with decimals as whole nanoseconds.
std::optional<std::int64_t> KinetoReader::thousandths() {
  if (json_.kind() != JsonKind::number) return json_.skip(), std::nullopt;
  const JsonNumber number = json_.number();
  if (number.thousandths) return number.thousandths;
  if (!(number.value >= -9e15 && number.value <= 9e15)) return std::nullopt;
  return static_cast<std::int64_t>(number.value * 1000);
}

/// Returns a text of at most 200 bytes; empty where the value is none.
std::string KinetoReader::short_text() {
  if (json_.kind() == JsonKind::string) return shortened(json_.string(), 200);
  return json_.skip(), "";
}

/// Reads one event into raw_; its members may come in any order.
void KinetoReader::event() {
  place_ = json_.place();
  if (json_.kind() != JsonKind::object) {
    leave_out("that are no objects");
    return json_.skip();
  }
  raw_ = RawEvent{};
  json_.object([this](std::string_view key) {
    const bool is_text = json_.kind() == JsonKind::string;
    if (key == "ph" && is_text)
      raw_.phase = json_.string()[0];  // a string ends with a zero
    else if (key == "name" && is_text)
      raw_.name = json_.string();
    else if (key == "cat" && is_text)
      raw_.category = json_.string();
    else if (key == "ts")
      raw_.start = thousandths();
    else if (key == "dur")
      raw_.duration = thousandths();
    else if (key == "pid")
      raw_.process = integer();
    else if (key == "tid")
      raw_.thread = integer();
    else if (key == "args" && json_.kind() == JsonKind::object)
      arguments();
    else
      json_.skip();
  });
  keep();
}

void KinetoReader::arguments() {
  json_.object([this](std::string_view key) { argument(key); });
}

/// Takes an argument. Its name depends on the version of the profiler.
void KinetoReader::argument(std::string_view key) {
  if (key == "correlation" || key == "Correlation ID") {
    raw_.correlation = integer().value_or(0);
  } else if (key == "External id" || key == "external id") {
    raw_.external = integer().value_or(0);
  } else if (key == "Sequence number") {
    raw_.sequence = integer().value_or(-1);
  } else if (key == "device") {
    raw_.device = integer();
  } else if (key == "stream") {
    raw_.stream = integer();
  } else if (key == "bytes") {
    raw_.bytes = integer().value_or(0);
  } else if (key == "Input Dims" || key == "Input dims") {
    input_sizes();
  } else if (key == "Input type") {
    input_types();
  } else if (!collective_argument(key)) {
    json_.skip();
  }
}

/// Takes an argument of a collective; returns false where the key is none of those.
bool KinetoReader::collective_argument(std::string_view key) {
  TraceCollective& collective = raw_.collective;
  if (key == "Collective name")
    collective.op = collective_of(short_text());
  else if (key == "In msg nelems")
    collective.in_elements = std::clamp<std::int64_t>(integer().value_or(0), 0, std::int64_t{1} << 45);
  else if (key == "Out msg nelems")
    collective.out_elements = std::clamp<std::int64_t>(integer().value_or(0), 0, std::int64_t{1} << 45);
  else if (key == "dtype")
    collective.element_bytes = element_bytes_of(short_text());
  else if (key == "Group size")
    collective.ranks = static_cast<int>(std::clamp<std::int64_t>(integer().value_or(0), 0, 10'000'000));
  else if (key == "Process Group Name")
    collective.group = short_text();
  else
    return false;
  raw_.has_collective = true;
  return true;
}

/// Reads the sizes of one argument. A list of tensors has one more level of brackets; each tensor then
/// becomes an entry of its own.
void KinetoReader::list_of_sizes(std::size_t argument, int depth) {
  std::vector<std::int64_t> dims;
  bool is_nested = false;
  json_.array([&] {
    if (json_.kind() == JsonKind::array && depth < 2) {
      is_nested = true;
      return list_of_sizes(argument, depth + 1);
    }
    const std::int64_t size = integer().value_or(0);
    if (dims.size() < kMostSides) dims.push_back(size);
  });
  if (is_nested || raw_.dims.size() == kMostArguments) return;
  raw_.places[argument].push_back(raw_.dims.size());
  raw_.dims.push_back(std::move(dims));
}

/// Reads the sizes of all arguments.
void KinetoReader::input_sizes() {
  if (json_.kind() != JsonKind::array) return json_.skip();
  json_.array([this] {
    if (json_.kind() != JsonKind::array || raw_.places.size() == kMostArguments) return json_.skip();
    raw_.places.emplace_back();
    list_of_sizes(raw_.places.size() - 1, 0);
  });
}

/// Reads the types of all arguments, which tell tensors from numbers.
void KinetoReader::input_types() {
  if (json_.kind() != JsonKind::array) return json_.skip();
  json_.array([this] {
    if (raw_.types.size() == kMostArguments) return json_.skip();
    raw_.types.push_back(short_text());
  });
}

/// Returns the sizes of the tensors among the arguments: "f32[4,3] f32[8,3]".
std::string KinetoReader::sizes_text() const {
  std::string out;
  for (std::size_t i = 0; i < raw_.places.size() && i < raw_.types.size(); ++i) {
    std::string_view type = short_type_of(raw_.types[i]);
    // The trace does not tell the type of a list of tensors; most have 32-bit floats.
    if (raw_.types[i] == "TensorList") type = "f32";
    if (type.empty()) continue;
    for (const std::size_t place : raw_.places[i]) {
      out += fmt::format("{}{}[{}]", out.empty() ? "" : " ", type, fmt::join(raw_.dims[place], ","));
    }
  }
  return out;
}

/// Counts an event that is left out, with the place of the first one.
void KinetoReader::leave_out(std::string_view why) {
  auto found = left_out_.find(why);
  if (found == left_out_.end()) found = left_out_.emplace(std::string(why), Exclusion{0, place_}).first;
  ++found->second.count;
}

/// Returns the number of the thread or stream that an event is on, and adds it where it is new. A stream is
/// known by its GPU and number.
std::uint16_t KinetoReader::lane_of(TraceKind kind) {
  // A kernel has GPU and stream as arguments; without them pid and tid stand for them.
  const bool is_stream = is_device(kind);
  const TraceLane lane{is_stream ? raw_.device.value_or(raw_.process.value_or(0)) : raw_.process.value_or(0),
                       is_stream ? raw_.stream.value_or(raw_.thread.value_or(0)) : raw_.thread.value_or(0),
                       is_stream};
  const auto [place, is_new] =
      (is_stream ? streams_ : threads_)
          .emplace(std::pair{lane.process, lane.thread}, static_cast<std::uint16_t>(trace_.lanes.size()));
  if (is_new) {
    if (trace_.lanes.size() == 60'000) throw InputError("the trace has more than 60000 threads and streams");
    trace_.lanes.push_back(lane);
  }
  return place->second;
}

/// Returns what TraceEvent::detail holds for a kind: a size, a collective, or the sizes of inputs.
std::uint32_t KinetoReader::detail_of(TraceKind kind) {
  if (kind == TraceKind::memcpy || kind == TraceKind::memset)
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>((raw_.bytes + 1023) / 1024, 0, 0xFFFF'FFFF));
  if (raw_.has_collective && (kind == TraceKind::kernel || raw_.name == "record_param_comms")) {
    if (raw_.collective.op.empty()) raw_.collective.op = collective_of(raw_.name);
    auto& all = trace_.collectives;
    // A step repeats the same few collectives, so only the last ones are searched.
    const auto recent = all.size() > 4000 ? all.end() - 4000 : all.begin();
    const auto found = std::find(recent, all.end(), raw_.collective);
    if (found != all.end()) return static_cast<std::uint32_t>(found - all.begin()) + 1;
    all.push_back(raw_.collective);
    return static_cast<std::uint32_t>(all.size());
  }
  if (kind != TraceKind::op || raw_.places.empty()) return 0;
  const std::string sizes = sizes_text();
  return sizes.empty() ? 0 : trace_.names.number(sizes) + 1;
}

/// Keeps an event that is complete, of a kind that matters, and has a possible time.
void KinetoReader::keep() {
  constexpr std::string_view kKnownPhases = "XBEbeninstfMCPNODvSTFRcp(),";
  if (kKnownPhases.find(raw_.phase) == std::string_view::npos) return leave_out("of unknown phases");
  if (raw_.phase != 'X') return;
  std::optional<TraceKind> kind = kind_of(raw_.category);
  if (kind == TraceKind::launch) kind = call_kind(raw_.name);
  if (!kind) return;
  // Times are bounded, so that no sum over all events leaves 64 bits.
  constexpr std::int64_t kLongest = std::int64_t{1} << 40, kEarliest = -(std::int64_t{1} << 53);
  if (!raw_.start || *raw_.start > kLatest || *raw_.start < kEarliest) return leave_out("without a time");
  if (raw_.duration.value_or(0) < 0) return leave_out("of a negative duration");
  if (raw_.duration.value_or(0) > kLongest) return leave_out("longer than 18 minutes");
  if (trace_.events.size() == limits_.events)
    throw InputError(fmt::format("{} holds more than {} events of operators, launches and kernels",
                                 printable(trace_.file), limits_.events),
                     "record fewer steps: a schedule with active=3 is enough");
  TraceEvent event;
  event.start = *raw_.start;
  event.duration = raw_.duration.value_or(0);
  event.name = trace_.names.number(std::string_view(raw_.name).substr(0, 2000));
  // Numbers that do not fit into 32 bits link nothing.
  const auto small = [](std::int64_t value) {
    return value > 0 && value < 0xFFFF'FFFF ? static_cast<std::uint32_t>(value) : 0;
  };
  event.correlation = small(raw_.correlation);
  event.external = small(raw_.external);
  event.sequence = raw_.sequence >= 0 && raw_.sequence < (1 << 30) ? static_cast<int>(raw_.sequence) : -1;
  event.detail = detail_of(*kind);
  event.lane = lane_of(*kind);
  event.kind = *kind;
  trace_.events.push_back(event);
}

/// Times of newer files count from a base, which is added where no sum overflows.
void KinetoReader::finish() {
  const auto is_in_range = [this](const TraceEvent& event) { return event.start <= kLatest - base_; };
  if (base_ > 0 && base_ < kLatest && std::ranges::all_of(trace_.events, is_in_range)) {
    for (TraceEvent& event : trace_.events) event.start += base_;
  }
  // Longer events come first among those that begin together: the outer call stands before the inner one.
  std::ranges::sort(trace_.events, [](const TraceEvent& a, const TraceEvent& b) {
    return a.start != b.start ? a.start < b.start : a.duration > b.duration;
  });
  for (const auto& [why, left] : left_out_)
    trace_.notes.push_back(fmt::format("{} events {} are left out, the first in line {}, column {}",
                                       left.count, why, left.first.line, left.first.column));
}

}  // namespace foretrain

// Reads the entries and groups of a dump. Entries stand in the order in which they were started; groups may
// be described before or behind them, so ranks are filled in at the end.
#include "sim/import/traces/flight_recorder.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// Bytes of a text that are kept; names and types in a dump are short.
constexpr std::size_t kLongestEntryText = 200;
// Largest time in ns, largest number of ranks.
constexpr double kMostNanoseconds = 4e18;
constexpr int kMostRanks = 1 << 20;
/// Process groups, at most: a lane of a trace has a number of 16 bits.
constexpr std::size_t kMostGroups = 60'000;

/// Returns how many numbers a list such as "[0, 1, 2]" has.
int ranks_in(const std::string& list) {
  int count = 0;
  bool in_number = false;
  for (const char c : list) {
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit && !in_number) ++count;
    in_number = is_digit;
  }
  return std::min(count, kMostRanks);
}

}  // namespace

const char* const kInsteadOfPickle =
    "write it as JSON: torch._C._distributed_c10d._dump_nccl_trace_json() in the job, or "
    "json.dump(pickle.load(file), …) where you trust the file";

/// The second byte is the version of the protocol, 2 to 5.
bool is_pickle(std::string_view bytes) {
  constexpr char kProtocol = '\x80';  // then its version, 2 to 5
  return bytes.size() > 1 && bytes[0] == kProtocol && bytes[1] >= 2 && bytes[1] <= 5;
}

/// Returns a text, cut; empty where the value is none.
std::string FlightRecorderReader::text() {
  if (json_.kind() != JsonKind::string) return json_.skip(), std::string();
  return shortened(json_.string(), kLongestEntryText);
}

/// Returns a number between 0 and kMostNanoseconds; 0 where the value is none.
double FlightRecorderReader::number() {
  if (json_.kind() != JsonKind::number) return json_.skip(), 0;
  const double value = json_.number().value;
  return std::isfinite(value) ? std::clamp(value, 0.0, kMostNanoseconds) : 0;
}

/// Returns the first text of a list. In ["0", "default_pg"] the name of a group comes first; in ["Float",
/// "Float"] all tensors of a call have one type.
std::string FlightRecorderReader::first_text() {
  if (json_.kind() != JsonKind::array) return text();
  std::string first;
  json_.array([&] {
    std::string one = text();
    if (first.empty()) first = std::move(one);
  });
  return first;
}

/// Returns the elements of all tensors together: 17 for [[3, 4], [5]].
std::int64_t FlightRecorderReader::elements() {
  constexpr double kMost = 1e15;
  double sum = 0;
  if (json_.kind() != JsonKind::array) return json_.skip(), 0;
  json_.array([&] {
    if (json_.kind() != JsonKind::array) return json_.skip();
    double product = 1;
    json_.array([&] { product = std::min(kMost, product * number()); });
    sum = std::min(kMost, sum + product);
  });
  return static_cast<std::int64_t>(sum);
}

/// Reads the list of entries.
void FlightRecorderReader::entries() {
  json_.array([this] {
    if (json_.kind() != JsonKind::object) return json_.skip();
    entry();
  });
}

/// Reads one entry. Unknown keys are skipped, because versions add some.
void FlightRecorderReader::entry() {
  Entry entry;
  json_.object([&](std::string_view key) {
    if (key == "profiling_name")
      entry.name = text();
    else if (key == "state")
      entry.state = text();
    else if (key == "process_group")
      entry.group = first_text();
    else if (key == "input_dtypes")
      entry.in_type = first_text();
    else if (key == "output_dtypes")
      entry.out_type = first_text();
    else if (key == "input_sizes")
      entry.in_elements = elements();
    else if (key == "output_sizes")
      entry.out_elements = elements();
    else if (key == "time_created_ns")
      entry.created_ns = number();
    else if (key == "time_discovered_started_ns")
      entry.started_ns = number();
    else if (key == "duration_ms")
      entry.duration_ms = number();
    else if (key == "is_p2p" && json_.kind() == JsonKind::word)
      entry.is_message = json_.word() == "true";
    else
      json_.skip();
  });
  keep(entry);
}

/// Keeps an entry as a kernel, or counts why it is left out. The order of the tests decides which reason is
/// reported.
void FlightRecorderReader::keep(const Entry& entry) {
  if (trace_.events.size() >= limits_.events)
    json_.refuse(fmt::format("holds more than {} entries", limits_.events));
  const int element_bytes = element_bytes_of(entry.in_type.empty() ? entry.out_type : entry.in_type);
  const std::string op = collective_of(entry.name);
  if (entry.is_message) return static_cast<void>(++messages_);
  if (entry.state != "completed") return static_cast<void>(++unfinished_);
  if (entry.duration_ms <= 0) return static_cast<void>(++untimed_);
  if (op.empty() || element_bytes == 0) return static_cast<void>(++unknown_);
  // Equal collectives are stored once; a step repeats the same few.
  const TraceCollective said{op, entry.group, entry.in_elements, entry.out_elements, element_bytes, 0};
  const auto [known, is_other] = places_.try_emplace(said, static_cast<std::uint32_t>(places_.size()));
  const std::uint32_t place = known->second;
  if (is_other) trace_.collectives.push_back(said);
  const auto [lane, is_new] = lanes_.try_emplace(entry.group, static_cast<std::uint16_t>(lanes_.size()));
  if (lanes_.size() > kMostGroups) json_.refuse(fmt::format("has more than {} process groups", kMostGroups));
  if (is_new) trace_.lanes.push_back({0, lane->second, true});
  TraceEvent event;
  event.kind = TraceKind::kernel, event.lane = lane->second, event.detail = 1 + place;
  event.start = static_cast<std::int64_t>(entry.started_ns > 0 ? entry.started_ns : entry.created_ns);
  event.duration = std::llround(std::min(entry.duration_ms * 1e6, kMostNanoseconds));
  // Names begin as those of NCCL's kernels do, so that the analysis takes them for collectives.
  event.name = trace_.names.number(entry.name.starts_with("nccl") ? entry.name : "nccl:" + op);
  trace_.events.push_back(event);
}

/// Reads the groups: {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}.
void FlightRecorderReader::groups() {
  if (json_.kind() != JsonKind::object) return json_.skip();
  // The key is the group's id; a name inside wins over it.
  json_.object([&](std::string_view id) {
    const std::string own(id.substr(0, kLongestEntryText));
    if (json_.kind() != JsonKind::object) return json_.skip();
    std::string name;
    int ranks = 0;
    json_.object([&](std::string_view key) {
      if (key == "name")
        name = text();
      else if (key == "ranks" && json_.kind() == JsonKind::string)
        ranks = ranks_in(json_.string());
      else if (key == "ranks" && json_.kind() == JsonKind::array)
        json_.array([&] { number(), ranks = std::min(ranks + 1, kMostRanks); });
      else
        json_.skip();
    });
    ranks_[name.empty() ? own : name] = ranks;
  });
}

void FlightRecorderReader::version() { trace_.nccl_version = text(); }

/// The largest group is taken for all ranks of the run.
void FlightRecorderReader::finish() {
  trace_.backend = "nccl";
  for (TraceCollective& collective : trace_.collectives) {
    const auto known = ranks_.find(collective.group);
    if (known != ranks_.end()) collective.ranks = known->second;
  }
  for (const auto& [name, ranks] : ranks_) trace_.ranks = std::max(trace_.ranks, ranks);
  std::ranges::stable_sort(trace_.events, {}, &TraceEvent::start);
  const auto note = [&](std::size_t count, std::string_view what, std::string_view why) {
    if (count > 0) trace_.notes.push_back(fmt::format("{} left out: {}", counted(count, what), why));
  };
  note(untimed_, "collective", "they have no duration; TORCH_NCCL_ENABLE_TIMING=1 measures them");
  note(unfinished_, "collective", "they had not ended when the dump was written");
  note(messages_, "message", "of sends and receives the time holds the wait for the other rank");
  note(unknown_, "entry", "their operation or type is not known");
}

}  // namespace foretrain

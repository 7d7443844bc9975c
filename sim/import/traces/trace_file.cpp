// Tells the formats of traces apart and reads a file in one pass. The members of all JSON formats have
// different names, so all of their readers are at hand while the members come in; the names that were met
// decide which result counts.
#include "sim/import/traces/trace_file.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "sim/base/input_file.hpp"
#include "sim/import/traces/chakra_et.hpp"
#include "sim/import/traces/flight_recorder.hpp"
#include "sim/import/traces/kineto.hpp"
#include "sim/import/traces/pytorch_et.hpp"

namespace foretrain {

namespace {

/// Hint for files that are no trace.
constexpr std::string_view kTraceFormats =
    "these are read, packed with gzip or not: what torch.profiler exports (Kineto), PyTorch's execution "
    "traces, Chakra's, and dumps of the flight recorder as JSON";

/// Throws InputError for a file, with the known formats as the hint.
[[noreturn]] void refuse_trace(const std::string& name, std::string message) {
  throw InputError(std::vector<Diagnostic>{{name, {}, "", std::move(message), std::string(kTraceFormats)}});
}

/// Reads all bytes into memory, as Chakra's reader needs them, and refuses files that are too large.
ExecutionTrace chakra_of(TraceBytes& bytes, const TraceLimits& limits) {
  std::string all;
  for (std::string_view piece = bytes.next(); !piece.empty(); piece = bytes.next()) {
    if (all.size() + piece.size() > kLargestChakra)
      refuse_trace(bytes.name(), fmt::format("is larger than {} MiB", kLargestChakra >> 20));
    all += piece;
  }
  return read_chakra(all, bytes.name(), limits);
}

/// Reads a JSON file. Of a member that comes twice the first one is read. A trace with events wins over other
/// members: Kineto's files may have members of the same names.
TraceFile json_trace(TraceBytes& bytes, const TraceLimits& limits) {
  // All readers share the stream; each reads the members that are its own.
  JsonStream json(bytes);
  Trace timed;
  ExecutionTrace executions;
  timed.file = executions.file = bytes.name();
  timed.names = executions.names = TraceNames(limits);
  executions.names.number("");
  KinetoReader kineto(json, limits, timed);
  PytorchEtReader pytorch(json, limits, executions);
  FlightRecorderReader recorder(json, limits, timed);
  bool has_events = false, has_nodes = false, has_entries = false;
  // Chrome's format allows the bare list of events.
  if (json.kind() == JsonKind::array) {
    kineto.events();
    has_events = true;
  } else if (json.kind() == JsonKind::object) {
    json.object([&](std::string_view key) {
      const bool is_list = json.kind() == JsonKind::array;
      if (key == "traceEvents" && is_list && !std::exchange(has_events, true)) return kineto.events();
      if (key == "nodes" && is_list && !std::exchange(has_nodes, true)) return pytorch.nodes();
      if (key == "entries" && is_list && !has_events && !std::exchange(has_entries, true))
        return recorder.entries();
      if (key == "pg_config") return recorder.groups();
      if (key == "nccl_version") return recorder.version();
      if (key == "schema") return pytorch.schema();
      if (key == "deviceProperties") return kineto.devices();
      if (key == "distributedInfo") return kineto.distribution();
      if (key == "baseTimeNanoseconds") return kineto.base_time();
      json.skip();
    });
  }
  if (!has_events && !has_nodes && !has_entries) refuse_trace(bytes.name(), "is JSON, but no trace");
  json.finish();
  TraceFile out;
  if (has_entries && !has_events) {
    recorder.finish();
    out.timed = std::move(timed);
  } else if (has_events) {
    kineto.finish();
    out.timed = std::move(timed);
  } else {
    pytorch.finish();
    out.executions = std::move(executions);
  }
  return out;
}

/// Returns whether the first character that is no blank opens an object or a list.
bool begins_as_json(std::string_view text) {
  const std::size_t sign = text.find_first_not_of(" \t\r\n");
  return sign != std::string_view::npos && (text[sign] == '{' || text[sign] == '[');
}

}  // namespace

/// Chakra is tested before JSON: a length may look like any character.
TraceFile read_trace(std::istream& in, const std::string& name, const TraceLimits& limits) {
  TraceBytes bytes(in, name, limits);
  const std::string_view first = bytes.first();
  if (first.empty()) refuse_trace(name, "is empty");
  if (is_chakra(first)) return {std::nullopt, chakra_of(bytes, limits)};
  if (is_pickle(first))
    // A pickle is refused before anything of it is looked at.
    throw InputError(std::vector<Diagnostic>{
        {name, {}, "", "is a pickle of Python, which could run code: it is not read", kInsteadOfPickle}});
  if (!begins_as_json(first)) refuse_trace(name, "is no trace");
  return json_trace(bytes, limits);
}

TraceFile read_trace_file(const std::string& path, const TraceLimits& limits) {
  const std::string name = path == "-" ? "/dev/stdin" : path;
  if (std::error_code error; std::filesystem::is_directory(name, error))
    throw EnvironmentError(path + ": is a folder, not a file");
  InputBuffer buffer(name);
  std::istream in(&buffer);
  return read_trace(in, path == "-" ? "standard input" : path, limits);
}

/// Only one trace is in memory at a time; mistakes of a file do not end the loop.
void each_timed_trace(const std::vector<std::string>& paths, const std::function<void(const Trace&)>& use) {
  std::vector<Diagnostic> mistakes;
  for (const std::string& path : paths) {
    try {
      const TraceFile file = read_trace_file(path);
      if (!file.timed)
        throw InputError(std::vector<Diagnostic>{
            {path,
             {},
             "",
             "is an execution trace, which says what ran, but not how long it took",
             "look at a trace of torch.profiler; `foretrain model import` makes a network of this one"}});
      use(*file.timed);
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

/// A packed text may be a trace; only unpacking could tell more.
bool looks_like_trace(std::string_view text) {
  if (text.size() > 2 && text[0] == '\x1f' && text[1] == '\x8b') return true;
  if (!begins_as_json(text)) return is_chakra(text) || is_pickle(text);
  const std::string_view begin = text.substr(0, 1u << 20);
  // Marks of Kineto, of PyTorch's execution traces, and of the flight recorder, within the first MiB.
  for (const std::string_view mark : {"\"traceEvents\"", "\"ph\"", "\"op_schema\"", "\"schemaVersion\"",
                                      "\"profiling_name\"", "\"pg_config\""}) {
    if (begin.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

bool is_trace_file(const std::string& path) {
  if (std::error_code error; !std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string begin(std::size_t{1} << 20, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  return looks_like_trace(begin);
}

}  // namespace foretrain

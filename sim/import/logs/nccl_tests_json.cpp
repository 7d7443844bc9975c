// Reader of what nccl-tests writes with -J: an object with args, env, nccl_version, config and results, such
// as
// {"results": [{"size": 1048576, "type": "float", "redop": "sum", "out_of_place": {"time": 57.3, "alg_bw":
// 18.3, "bus_bw": 32.0, "nwrong": 0}}]}.
// Devices stand in config or beside it, by version. Numbers may be strings, and "nan" is one of them.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/logs/json_value.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/nccl_tests_table.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// Limit of nesting; deeper values are dropped.
constexpr int kDeepestNcclJson = 12;

/// Returns a list; an empty one for other values.
const LogJson& list_of(const LogJson& value) {
  static const LogJson none = LogJson::array();
  return value.is_array() ? value : none;
}

/// Returns a text without blanks around it; empty for other values.
std::string text_of(const LogJson& value) {
  return value.is_string() ? std::string(trimmed(value.get_ref<const std::string&>())) : "";
}

/// Returns a number, which may be written as a string.
std::optional<double> figure_of(const LogJson& value) {
  if (value.is_number()) return value.get<double>();
  return number_of(text_of(value));
}

/// Returns a whole number, which may be written as a string; `otherwise` for other values.
std::int64_t whole_of(const LogJson& value, std::int64_t otherwise) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return otherwise;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return integer_of(text_of(value)).value_or(otherwise);
}

/// Reads one measurement. `iterations` holds mean and deviation of single iterations, if they were timed.
NcclTime time_of(const LogJson& part, const LogJson& iterations, bool in_place) {
  NcclTime time;
  time.in_place = in_place;
  const LogJson& said = at(part, "time").is_null() ? at(part, "cpu_time") : at(part, "time");
  const auto value = figure_of(said);
  if (!value) time.fault = fmt::format("its {} time is no number", in_place ? "in-place" : "out-of-place");
  time.time_us = value.value_or(0);
  time.algbw = figure_of(at(part, "alg_bw")).value_or(0),
  time.busbw = figure_of(at(part, "bus_bw")).value_or(0);
  const auto wrong = figure_of(at(part, "nwrong"));
  time.is_checked = wrong.has_value(), time.wrong = wrong.value_or(0);
  const double deviation = figure_of(at(iterations, "stdev_us")).value_or(0),
               mean = figure_of(at(iterations, "avg_us")).value_or(0);
  if (mean > 0 && deviation >= 0) time.spread = deviation / mean;
  return time;
}

/// Reads one row of results.
NcclRow row_of(const LogJson& result) {
  NcclRow row;
  row.size = whole_of(at(result, "size"), 0), row.count = whole_of(at(result, "count"), 0);
  row.type = text_of(at(result, "type")), row.redop = text_of(at(result, "redop"));
  if (row.redop == "none") row.redop.clear();
  row.root = static_cast<int>(std::clamp<std::int64_t>(whole_of(at(result, "root"), -1), -1, 1 << 30));
  row.iterations = static_cast<int>(
      std::clamp<std::int64_t>(whole_of(at(result, "actual_iterations"), 0), 0, 1'000'000'000));
  if (const LogJson& part = at(result, "out_of_place"); part.is_object())
    row.times.push_back(time_of(part, at(result, "out_of_place_per_iter"), false));
  if (const LogJson& part = at(result, "in_place"); part.is_object())
    row.times.push_back(time_of(part, at(result, "in_place_per_iter"), true));
  return row;
}

/// Reads the list of devices; entries without rank or host are ignored.
void read_devices(const LogJson& list, NcclDevices& devices, SampleSheet& sheet) {
  for (const LogJson& device : list_of(list)) {
    const std::int64_t rank = whole_of(at(device, "rank"), -1);
    const std::string host = text_of(at(device, "hostname"));
    if (rank < 0 || rank >= 10'000'000 || host.empty()) continue;
    devices.ranks = std::max(devices.ranks, static_cast<int>(rank) + 1);
    devices.hosts.insert(host);
    devices.processes.emplace(host, std::to_string(whole_of(at(device, "pid"), rank)));
    sheet.state("gpu", text_of(at(device, "device_info")));
    sheet.state("host", host);
  }
}

/// Reads NCCL_ALGO and NCCL_PROTO from the environment. Lists leave the choice open and are ignored.
void read_environment(const LogJson& list, NcclTable& table) {
  for (const LogJson& entry : list_of(list)) {
    const std::string line = text_of(entry);
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string value = lower_case(std::string_view(line).substr(std::min(equals + 1, line.size())));
    if (value.empty() || value.find_first_of(",:;^") != std::string::npos) continue;
    if (line.starts_with("NCCL_ALGO=")) table.algorithm = value;
    if (line.starts_with("NCCL_PROTO=")) table.protocol = value;
  }
}

/// Reads everything but the rows.
NcclTable table_of(const LogJson& root, SampleSheet& sheet) {
  NcclTable table;
  const LogJson& config = at(root, "config");
  read_devices(at(config, "devices"), table.devices, sheet);
  if (table.devices.ranks == 0) read_devices(at(root, "devices"), table.devices, sheet);
  read_environment(at(root, "env"), table);
  table.version = nccl_version_of_code(whole_of(at(root, "nccl_version"), 0));
  sheet.state("nccl", table.version);
  sheet.state("date", text_of(at(root, "start_time")));
  table.iterations =
      static_cast<int>(std::clamp<std::int64_t>(whole_of(at(config, "iterations"), 1), 1, 1'000'000'000));
  const LogJson& arguments = at(root, "args");
  if (arguments.is_array() && !arguments.empty()) table.named = op_of_program(text_of(arguments[0]));
  return table;
}

/// Parses the text. Values that are nested deeper than nccl-tests writes are dropped while reading.
LogJson parse(const std::string& text) {
  return LogJson::parse(
      text, [](int depth, LogJson::parse_event_t, LogJson&) { return depth <= kDeepestNcclJson; }, false);
}

}  // namespace

bool is_nccl_tests_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && text[first] == '{' && holds(text, "\"results\"") &&
         (holds(text, "\"out_of_place\"") || holds(text, "\"in_place\""));
}

// A run that was killed leaves JSON without its end, which cannot be read in part.
void read_nccl_tests_json(const SourceText& source, const LogHints& hints, SampleSheet& sheet) {
  const LogJson root = parse(source.text);
  if (!root.is_object())
    return sheet.skip(
        1, "the JSON is not complete, so nothing of it is read; nccl-tests ends it when it is finished");
  NcclTable table = table_of(root, sheet);
  const LogJson& results = at(root, "results");
  bool goes_on = true;
  for (const LogJson& result : list_of(results)) {
    if (!goes_on) break;
    goes_on = sheet.count_row();
    table.rows.push_back(row_of(result));
    if (table.named.empty()) table.named = op_of_program(text_of(at(result, "experiment_name")));
  }
  add_table(table, hints, source.name, sheet);
}

}  // namespace foretrain

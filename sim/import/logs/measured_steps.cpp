// There is a function for each kind of line. It takes the fields that it knows and remembers the first that
// is wrong. Unknown fields are ignored, so that newer writers can say more.
#include "sim/import/logs/measured_steps.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/import/logs/json_value.hpp"
#include "sim/scenario/csv/measurements.hpp"

namespace foretrain {

namespace {

/// Limit of nesting in a line.
constexpr int kDeepestMeasuredJson = 4;
/// Limits of texts, in bytes.
constexpr std::size_t kLongestNetworkName = 80, kLongestWord = 200;
/// Limits of counts and seconds, and of bytes of memory.
constexpr double kMostCounted = 1e9, kMostMeasuredBytes = 1e15;

/// Parses a line; deeper values are dropped, and a text that is no JSON is a discarded value, which is no
/// object.
LogJson parse_line(std::string_view text) {
  return LogJson::parse(
      text, [](int depth, LogJson::parse_event_t, LogJson&) { return depth <= kDeepestMeasuredJson; }, false);
}

/// Says whether a text can be part of a file's name and a field of a CSV.
bool is_plain_name(const std::string& text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= kLongestNetworkName && text.front() != '.' && text.front() != '-' &&
         std::ranges::all_of(text, is_plain);
}

/// Reads the fields of one line and remembers the first mistake.
class MeasuredFields {
 public:
  explicit MeasuredFields(const LogJson& object) : object_(object) {}

  /// Returns a name that must be there.
  std::string name(const char* key) {
    const LogJson& value = at(object_, key);
    std::string text = value.is_string() ? value.get<std::string>() : "";
    if (!is_plain_name(text)) wrong(fmt::format("\"{}\" is no plain name", key));
    return text;
  }

  /// Returns a text, made printable and cut to 200 bytes; empty where the line has none.
  std::string words(const char* key) {
    const LogJson& value = at(object_, key);
    return value.is_string() ? printable(shortened(value.get<std::string>(), kLongestWord)) : "";
  }

  /// Returns a number within bounds; no value where the line has none. A number out of bounds is a mistake.
  std::optional<double> number(const char* key, double least, double most) {
    const LogJson& value = at(object_, key);
    if (value.is_null()) return std::nullopt;
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (number >= least && number <= most) return number;
    wrong(fmt::format("\"{}\" is no number from {:g} to {:g}", key, least, most));
    return std::nullopt;
  }

  /// Returns a whole number of at least `least`, or `otherwise` where the line has none.
  std::int64_t count(const char* key, std::int64_t least, std::int64_t otherwise) {
    const auto value = number(key, static_cast<double>(least), kMostCounted);
    return value ? std::llround(*value) : otherwise;
  }

  /// Returns a flag; false where the line has none.
  bool flag(const char* key) {
    const LogJson& value = at(object_, key);
    return value.is_boolean() && value.get<bool>();
  }

  /// Returns settings of a scenario. Keys must hold a dot, and values must fit into a field of settings in a
  /// CSV.
  Settings settings(const char* key);

  const LogJson& object() const { return object_; }
  /// Keeps the first mistake, which is what the user sees.
  void wrong(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }
  const std::string& why() const { return why_; }

 private:
  const LogJson& object_;
  std::string why_;
};

/// Returns a text, number or flag as text; no value for lists, objects and null.
std::optional<std::string> scalar_text(const LogJson& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean() || value.is_number()) return value.dump();
  return std::nullopt;
}

Settings MeasuredFields::settings(const char* key) {
  Settings out;
  const LogJson& object = at(object_, key);
  if (object.is_null()) return out;
  if (!object.is_object()) wrong(fmt::format("\"{}\" is no object", key));
  for (auto entry = object.begin(); object.is_object() && entry != object.end(); ++entry) {
    const auto text = scalar_text(entry.value());
    const bool is_key = is_plain_name(entry.key()) && entry.key().find('.') != std::string::npos;
    const bool is_value = text && text->size() < kLongestWord && is_printable(*text) &&
                          text->find_first_of(";\n\"=") == std::string::npos;
    if (!is_key || !is_value)
      wrong(fmt::format("the setting \"{}\" is not key=value", printable(shortened(entry.key(), 40))));
    else
      out.emplace_back(entry.key(), *text);
  }
  return out;
}

/// Reads the memory figures of a step. Mistakes among them are not reported; such a figure is left out.
MeasuredMemory measured_memory(const LogJson& object) {
  MeasuredMemory out;
  MeasuredFields fields(object);
  out.parameters = fields.number("parameters", 0, kMostMeasuredBytes);
  out.gradients = fields.number("gradients", 0, kMostMeasuredBytes);
  out.optimizer = fields.number("optimizer", 0, kMostMeasuredBytes);
  out.allocated_peak = fields.number("allocated_peak", 0, kMostMeasuredBytes);
  out.reserved_peak = fields.number("reserved_peak", 0, kMostMeasuredBytes);
  return out;
}

/// Reads one line of each kind.
void take(MeasuredFields& fields, MeasuredStep& row) {
  row.network = fields.name("network"), row.kind = fields.words("kind");
  row.precision = fields.name("precision");
  row.batch = fields.count("batch", 1, 1);
  row.compiled = fields.flag("compile"), row.channels_last = fields.flag("channels_last");
  row.optimizer = fields.words("optimizer");
  row.settings = fields.settings("settings");
  row.step_s = fields.number("step_s", kLeastMeasured, kMostCounted);
  row.spread = fields.number("spread", 0, kMostCounted).value_or(0);
  row.steps = static_cast<int>(fields.count("steps", 0, 0));
  row.host_s = fields.number("host_s", 0, kMostCounted);
  if (const auto launches = fields.number("launches", 0, kMostCounted))
    row.launches = std::llround(*launches);
  row.memory = measured_memory(at(fields.object(), "memory"));
  row.error = fields.words("error"), row.when = fields.words("when");
  if (!row.step_s && row.error.empty()) fields.wrong("it has neither \"step_s\" nor \"error\"");
  // A line is either a measurement or a failure.
  if (row.step_s && !row.error.empty()) fields.wrong("it has both \"step_s\" and \"error\"");
}

void take(MeasuredFields& fields, MeasuredKernel& row) {
  row.network = fields.name("network"), row.precision = fields.name("precision");
  row.batch = fields.count("batch", 1, 1);
  row.compiled = fields.flag("compile");
  row.op = fields.words("op"), row.kind = fields.words("kind");
  row.calls = fields.count("calls", 1, 1);
  const auto on_gpu = fields.number("gpu_s", 0, kMostCounted);
  const auto on_host = fields.number("host_s", 0, kMostCounted);
  // Time on the GPU goes before time on the host, which is all there is without a GPU.
  row.seconds = on_gpu.value_or(on_host.value_or(0));
  if (!on_gpu && !on_host) fields.wrong("it has neither \"gpu_s\" nor \"host_s\"");
}

void take(MeasuredFields& fields, MeasuredLoader& row) {
  row.workers = static_cast<int>(fields.count("workers", 0, 0));
  row.cores = static_cast<int>(fields.count("cores", 0, 0));
  const auto rate = fields.number("images_per_s", kLeastMeasured, kMostMeasured);
  row.images_per_s = rate.value_or(0);
  if (!rate) fields.wrong("it has no \"images_per_s\"");
  row.source = fields.words("source");
}

/// Reads all whole lines of a file; a wrong line is skipped with its reason.
template <class Row>
MeasuredLines<Row> read_lines(const SourceText& source) {
  MeasuredLines<Row> out;
  std::string_view rest = std::string_view(source.text).substr(0, whole_lines(source.text));
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    // Files that were joined from several may hold empty lines.
    if (line.empty()) continue;
    const LogJson object = parse_line(line);
    if (!object.is_object()) {
      out.skipped.push_back({number, "it is no JSON object"});
      continue;
    }
    Row row;
    row.line = number;
    MeasuredFields fields(object);
    take(fields, row);
    if (fields.why().empty())
      out.rows.push_back(std::move(row));
    else
      out.skipped.push_back({number, fields.why()});
  }
  return out;
}

}  // namespace

MeasuredLines<MeasuredStep> read_measured_steps(const SourceText& source) {
  return read_lines<MeasuredStep>(source);
}
MeasuredLines<MeasuredKernel> read_measured_kernels(const SourceText& source) {
  return read_lines<MeasuredKernel>(source);
}
MeasuredLines<MeasuredLoader> read_measured_loaders(const SourceText& source) {
  return read_lines<MeasuredLoader>(source);
}

std::optional<Settings> read_flat_object(std::string_view text) {
  const LogJson object = parse_line(text);
  if (!object.is_object()) return std::nullopt;
  Settings out;
  for (auto entry = object.begin(); entry != object.end(); ++entry) {
    if (const auto value = scalar_text(entry.value()))
      out.emplace_back(printable(entry.key()), printable(shortened(*value, kLongestWord)));
  }
  return out;
}

std::size_t whole_lines(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace foretrain

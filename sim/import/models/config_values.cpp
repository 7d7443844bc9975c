// Reads the values of a config.json with their checks.
//
// JSON values keep no place in the text. When something is wrong with a value, the text is searched for its
// key again, so that a report can point at it. All problems are collected in Diagnostics; nothing is thrown
// here.
#include "sim/import/models/config_values.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/counted.hpp"

namespace foretrain {

namespace {

/// Largest size, entries of the longest list, and levels of nesting that a file may have.
constexpr std::int64_t kLargestSize = 1'000'000'000;
constexpr std::size_t kMostSizes = 64;
constexpr int kDeepestObject = 32;

/// Returns where the text has this key in the object that `path` names, npos where it has not. The text is
/// valid JSON, so braces, brackets and quotes are enough to follow; a key that was written with escapes is
/// not found.
std::size_t place_in_object(std::string_view text, const std::vector<std::string>& path,
                            std::string_view key) {
  // The key of each object and list that is open; the whole text has none.
  std::vector<std::string_view> around;
  std::string_view last;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{' || text[at] == '[') around.push_back(std::exchange(last, {}));
    if ((text[at] == '}' || text[at] == ']') && !around.empty()) around.pop_back();
    if (text[at] != '"') continue;
    const std::size_t begin = at + 1;
    for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    const std::size_t next = text.find_first_not_of(" \t\r\n", std::min(at + 1, text.size()));
    if (next == std::string_view::npos || text[next] != ':') continue;
    last = text.substr(begin, at - begin);
    if (last == key && around.size() == path.size() + 1 &&
        std::equal(path.begin(), path.end(), around.begin() + 1))
      return begin - 1;
  }
  return std::string_view::npos;
}

/// Returns the place of a key of the object that `path` names, otherwise the first place of such a key.
SourceSpan span_of_key(const std::string& text, const std::vector<std::string>& path, std::string_view key) {
  std::size_t at = place_in_object(text, path, key);
  if (at == std::string::npos) at = text.find(fmt::format("\"{}\"", key));
  if (at == std::string::npos) return {};
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t column = start == std::string::npos ? at : at - start - 1;
  return {static_cast<int>(lines) + 1, static_cast<int>(column) + 1, static_cast<int>(key.size()) + 2};
}

}  // namespace

/// The parser reports no reason; size, depth and kind cover what users get wrong.
LogJson parsed_object(const SourceText& source, const ObjectKind& kind, Diagnostics& diagnostics) {
  if (source.text.size() > kind.largest) {
    diagnostics.report({}, fmt::format("a {} has at most {} MiB", kind.name, kind.largest >> 20));
    return {};
  }
  // The callback drops deep values, so that every later walk over the object is bounded.
  bool too_deep = false;
  LogJson object = LogJson::parse(
      source.text,
      [&](int depth, LogJson::parse_event_t, LogJson&) {
        too_deep = too_deep || depth > kDeepestObject;
        return depth <= kDeepestObject;
      },
      false);
  if (object.is_discarded() || too_deep || !object.is_object())
    diagnostics.report({},
                       too_deep ? fmt::format("the {} is nested more than {} deep", kind.name, kDeepestObject)
                                : fmt::format("the {} is no JSON object", kind.name),
                       std::string(kind.usual));
  return object;
}

/// Returns the value of the first name that is there. `used` names it, or the newest name for messages.
const LogJson* ConfigValues::find(ConfigNames names, const char*& used) const {
  for (const char* name : names) {
    const LogJson& value = at(object_, name);
    used = name;
    if (!value.is_null()) return &value;
  }
  used = *names.begin();
  return nullptr;
}

void ConfigValues::refuse(const char* name, std::string message, std::string hint) {
  diagnostics_.report(span_of_key(diagnostics_.source().text, path_, name), std::move(message),
                      std::move(hint));
}

/// Returns a whole number from 1 to kLargestSize; reports others and returns 1, so that the caller can go on
/// and find further faults. 4096.0 counts as whole.
std::int64_t ConfigValues::checked(const LogJson& value, const char* name) {
  const double number = value.is_number() ? value.get<double>() : 0;
  if (number >= 1 && number <= static_cast<double>(kLargestSize) && number == std::floor(number))
    return static_cast<std::int64_t>(number);
  refuse(name, fmt::format("{} must be a whole number from 1 to {}", name, kLargestSize));
  return 1;
}

/// The value 1 for a missing size lets the writer go on, so that all missing keys are found.
std::int64_t ConfigValues::size(ConfigNames names) {
  const char* used = nullptr;
  if (const LogJson* value = find(names, used)) return checked(*value, used);
  missing_.emplace_back(used);
  return 1;
}

std::int64_t ConfigValues::size_or(ConfigNames names, std::int64_t otherwise) {
  const char* used = nullptr;
  const LogJson* value = find(names, used);
  return value == nullptr ? otherwise : checked(*value, used);
}

std::vector<std::int64_t> ConfigValues::sizes(ConfigNames names, std::size_t least) {
  const char* used = nullptr;
  const LogJson* value = find(names, used);
  std::vector<std::int64_t> out;
  if (value == nullptr) {
    missing_.emplace_back(used);
  } else if (!value->is_array() || value->size() < least || value->size() > kMostSizes) {
    refuse(used, fmt::format("{} must be a list of {} to {} numbers", used, least, kMostSizes));
  } else {
    for (const LogJson& one : *value) out.push_back(checked(one, used));
    return out;
  }
  return std::vector<std::int64_t>(least, 1);
}

/// Dropout rates and parts of a head are such numbers.
double ConfigValues::share_or(const char* name, double otherwise) {
  const LogJson& value = at(object_, name);
  if (value.is_null()) return otherwise;
  const double number = value.is_number() ? value.get<double>() : -1;
  if (number >= 0 && number <= 1) return number;
  refuse(name, fmt::format("{} must be a number from 0 to 1", name));
  return otherwise;
}

bool ConfigValues::flag_or(const char* name, bool otherwise) {
  const LogJson& value = at(object_, name);
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_null()) refuse(name, fmt::format("{} must be true or false", name));
  return otherwise;
}

std::string ConfigValues::word_or(const char* name, std::string_view otherwise) {
  const LogJson& value = at(object_, name);
  if (value.is_string()) return value.get<std::string>().substr(0, 60);
  if (!value.is_null()) refuse(name, fmt::format("{} must be a text", name));
  return std::string(otherwise);
}

ConfigValues ConfigValues::inside(const char* name) const {
  std::vector<std::string> path = path_;
  path.emplace_back(name);
  return {at(object_, name), diagnostics_, std::move(path)};
}

std::size_t ConfigValues::count(const char* name) const {
  const LogJson& value = at(object_, name);
  return value.is_object() || value.is_array() ? value.size() : 0;
}

/// Wrong values were reported where they were read; only the missing ones are left.
bool ConfigValues::finish(std::string_view model_type) {
  if (!missing_.empty())
    diagnostics_.report({}, fmt::format("a config of {} needs {}", model_type, fmt::join(missing_, ", ")),
                        fmt::format("add {} to the file", missing_.size() == 1 ? "it" : "them"));
  return diagnostics_.empty();
}

}  // namespace foretrain

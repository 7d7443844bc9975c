// Samples as values, and as CSV text: facts in comments, one row per sample, numbers with all digits that
// reading back needs.
#include "sim/scenario/csv/samples.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Returns a text on one line, without blanks around it.
std::string line_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  std::string line(text.substr(first, last - first + 1));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

/// Returns one word, as keys of comments are.
std::string sample_key_of(std::string_view text) {
  std::string key = line_of(text);
  std::replace_if(
      key.begin(), key.end(),
      [](char c) { return c == ' ' || c == '\t' || c == ',' || c == '=' || c == ':' || c == '#'; }, '_');
  return key;
}

/// Returns a text on one line, in quotes if CSV needs them.
std::string field_of(std::string_view text) {
  std::string field = line_of(text);
  if (field.find_first_of(",\"") == std::string::npos) return field;
  for (std::size_t at = field.find('"'); at != std::string::npos; at = field.find('"', at + 2))
    field.insert(at, 1, '"');
  return "\"" + field + "\"";
}

/// Returns settings as one column; a separator in a value becomes a comma.
std::string settings_text(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    std::string one = fmt::format("{}={}", line_of(key), line_of(value));
    std::replace(one.begin(), one.end(), ';', ',');
    text += (text.empty() ? "" : ";") + one;
  }
  return text;
}

}  // namespace

std::string_view setting_of(const Sample& sample, std::string_view key) {
  for (const auto& [name, value] : sample.settings) {
    if (name == key) return value;
  }
  return {};
}

std::string write_samples_csv(const Settings& provenance, const std::vector<Sample>& samples) {
  std::string text;
  for (const auto& [key, value] : provenance) {
    text += fmt::format("# {}: {}\n", sample_key_of(key), line_of(value));
  }
  text.append(kSamplesHeader).append(1, '\n');
  for (const Sample& s : samples) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n",
                        kSampleKindNames[static_cast<std::size_t>(s.kind)], field_of(s.what), s.gpus, s.nodes,
                        s.bytes, s.value, kSampleUnitNames[static_cast<std::size_t>(s.unit)], s.spread,
                        s.repeats, field_of(settings_text(s.settings)), field_of(s.source));
  }
  return text;
}

}  // namespace foretrain

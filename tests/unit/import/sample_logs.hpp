// Short ways to read a log in a test, and to say what came out of it.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/import/sample_log.hpp"

namespace foretrain::test {

inline SampleFile read_log(const std::string& text, const LogHints& hints = {}) {
  return read_sample_log({"a.log", text}, hints);
}

/// What a text is refused with; empty when it is not.
inline std::string why_refused(const std::string& text) {
  try {
    read_log(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// "line: why" of everything that was left out.
inline std::vector<std::string> left_out(const SampleFile& file) {
  std::vector<std::string> lines;
  for (const SkippedLine& skipped : file.skipped)
    lines.push_back(fmt::format("{}: {}", skipped.line, skipped.why));
  return lines;
}

/// "what bytes value unit key=value;…"
inline std::string in_words(const Sample& sample) {
  std::string text = fmt::format("{} {} {:.6g} {}", sample.what, sample.bytes, sample.value,
                                 kSampleUnitNames[static_cast<std::size_t>(sample.unit)]);
  for (const auto& [key, value] : sample.settings) text += fmt::format(" {}={}", key, value);
  return text;
}

inline std::vector<std::string> in_words(const SampleFile& file) {
  std::vector<std::string> lines;
  for (const Sample& sample : file.samples) lines.push_back(in_words(sample));
  return lines;
}

}  // namespace foretrain::test

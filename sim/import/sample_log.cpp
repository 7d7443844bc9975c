// Formats that stand alone are tried first. All formats that may be mixed read the same text, and their
// samples are then sorted by line.
#include "sim/import/sample_log.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"
#include "sim/import/traces/trace_file.hpp"
#include "sim/import/traces/trace_samples.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns the formats that a text holds: one that stands alone, or all mixed ones, or else the last one.
std::vector<const LogFormat*> recognised(std::string_view text) {
  std::vector<const LogFormat*> found;
  for (const LogFormat& format : log_formats()) {
    if (format.place == LogPlace::last && !found.empty()) continue;
    if (!format.recognises(text)) continue;
    if (format.place == LogPlace::alone) return {&format};
    found.push_back(&format);
  }
  return found;
}

/// Throws InputError about the file as a whole.
[[noreturn]] void refuse(const SourceText& source, std::string message, std::string hint) {
  throw InputError(std::vector<Diagnostic>{{source.name, {}, "", std::move(message), std::move(hint)}});
}

/// Returns the formats that can be read, for the hint of an error.
std::string known_formats() {
  std::string names;
  for (const LogFormat& format : log_formats())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  return "these are read: " + names + ", traces of torch.profiler";
}

/// A NUL byte among the first ones; logs with a few wrong bytes are still read.
bool is_binary(std::string_view text) {
  return text.substr(0, 1u << 16).find('\0') != std::string_view::npos;
}

/// Turns a trace into samples. Throws InputError for execution traces, which hold no times.
SampleFile samples_of(const TraceFile& trace, const std::string& name, const LogHints& hints) {
  if (trace.timed) return trace_samples(*trace.timed, hints);
  throw InputError(std::vector<Diagnostic>{
      {name, {}, "", "is an execution trace, which has no times", "take a trace of torch.profiler"}});
}

}  // namespace

SampleFile read_sample_file(const std::string& path, const LogHints& hints) {
  // Traces may be larger than the limit of logs, so they are read without loading the file.
  if (is_trace_file(path)) return samples_of(read_trace_file(path), path, hints);
  return read_sample_log(read_text_file(path, kLargestSamples), hints);
}

SampleFile read_sample_log(const SourceText& source, const LogHints& hints) {
  if (source.text.size() > kLargestSamples)
    refuse(source, fmt::format("is larger than {} bytes", kLargestSamples), "cut the tables out of it");
  if (looks_like_trace(source.text)) {
    std::istringstream in(source.text);
    return samples_of(read_trace(in, source.name), source.name, hints);
  }
  if (is_binary(source.text)) refuse(source, "is not a text file", known_formats());
  const std::vector<const LogFormat*> formats = recognised(source.text);
  if (formats.empty()) refuse(source, "holds no measurements of a known format", known_formats());
  std::string names;
  for (const LogFormat* format : formats) names += (names.empty() ? "" : " + ") + std::string(format->name);
  SampleSheet sheet(source.name, names);
  // A reader passes over the lines of other formats, and one sheet collects the samples of all.
  for (const LogFormat* format : formats) format->read(source, hints, sheet);
  for (const char* key :
       {"gpu", "driver", "cuda", "nccl", "host", "date", "topology", "link", "source", "notes"})
    // Facts that a reader stated before go before comments at the top of the text.
    sheet.state(key, std::string(comment_fact(source.text, key)));
  SampleFile file = sheet.take();
  const auto by_line = [](const auto& a, const auto& b) { return a.line < b.line; };
  if (formats.size() > 1) std::stable_sort(file.samples.begin(), file.samples.end(), by_line);
  if (formats.size() > 1) std::stable_sort(file.skipped.begin(), file.skipped.end(), by_line);
  return file;
}

}  // namespace foretrain

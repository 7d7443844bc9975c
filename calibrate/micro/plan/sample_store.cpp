// A file that a run was killed over is the file of the last family that ended, so the next run goes on from
// there.
#include "calibrate/micro/plan/sample_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"

namespace foretrain::micro {

namespace {

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw EnvironmentError(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

std::string value_of(const Settings& settings, std::string_view key) {
  const auto at = std::find_if(settings.begin(), settings.end(),
                               [&](const auto& setting) { return setting.first == key; });
  return at == settings.end() ? "" : at->second;
}

}  // namespace

SampleFile read_store(const std::string& path) {
  SampleFile nothing;
  nothing.file = path;
  std::error_code unknown;
  if (path == "-" || !std::filesystem::is_regular_file(path, unknown)) return nothing;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, "cannot be read");
  const SourceText source{path, {std::istreambuf_iterator<char>(stream), {}}};
  if (source.text.empty()) return nothing;
  Diagnostics diagnostics(source);
  SampleFile file = read_samples_csv(source, diagnostics);
  diagnostics.throw_if_any();
  return file;
}

std::string mismatch(const Settings& known, const Settings& own) {
  for (const char* key : {"gpu", "driver", "cpu"}) {
    const std::string theirs = value_of(known, key), ours = value_of(own, key);
    if (!theirs.empty() && !ours.empty() && theirs != ours)
      return fmt::format("{} was {}, here it is {}", key, theirs, ours);
  }
  return "";
}

Settings merged_provenance(const Settings& known, const Settings& own) {
  Settings merged = own;
  for (const auto& [key, value] : known) {
    if (value_of(own, key).empty()) merged.emplace_back(key, value);
  }
  return merged;
}

void write_store(const std::string& path, const Settings& provenance, const std::vector<Sample>& samples) {
  const std::string text = printable_lines(write_samples_csv(provenance, samples));
  if (path != "-") return write_whole_file(path, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    fail("standard output", "cannot be written");
}

}  // namespace foretrain::micro

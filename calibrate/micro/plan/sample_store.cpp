// A file that a run was killed over is the file of the last family that ended, so the next run goes on from there.
#include "calibrate/micro/plan/sample_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

namespace foretrain::micro {

namespace {

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw WorldError(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

std::string value_of(const Settings& settings, std::string_view key) {
  const auto at = std::find_if(settings.begin(), settings.end(), [&](const auto& setting) { return setting.first == key; });
  return at == settings.end() ? "" : at->second;
}

void write_text(const std::string& path, std::string_view text) {
  std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail(path, "cannot be written");
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  const int cause = errno;
  const bool closed = file == stdout || std::fclose(file) == 0;
  if (!written) errno = cause;
  if (!written || !closed) fail(path, "cannot be written");
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
    if (!theirs.empty() && !ours.empty() && theirs != ours) return fmt::format("{} was {}, here it is {}", key, theirs, ours);
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
  namespace fs = std::filesystem;
  const std::string text = write_samples_csv(provenance, samples);
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  const bool is_in_place = path == "-" || (fs::exists(status) && !fs::is_regular_file(status));
  if (is_in_place) return write_text(path, text);
  const std::string target = fs::is_symlink(fs::symlink_status(path, unknown)) ? fs::canonical(path, unknown).string() : path;
  const std::string temporary = fmt::format("{}.{}.part", target, ::getpid());
  try {
    write_text(temporary, text);
  } catch (const WorldError&) {
    const int cause = errno;
    std::remove(temporary.c_str());
    errno = cause;
    fail(path, "cannot be written");
  }
  if (std::rename(temporary.c_str(), target.c_str()) == 0) return;
  const int cause = errno;
  std::remove(temporary.c_str());
  errno = cause;
  fail(path, "cannot be written");
}

}  // namespace foretrain::micro

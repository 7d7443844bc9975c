// The rename is the only moment at which the final name changes. A link keeps pointing where it does; what is no regular file (a pipe, a
// device) is written to as it stands, since a rename would put a file in its place.
#include "sim/report/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw WorldError(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

bool write_all(std::FILE* file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

/// Writes and closes; on failure errno says why.
bool write_and_close(std::FILE* file, std::string_view text) {
  const bool written = write_all(file, text);
  const int cause = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) errno = cause;
  return written && closed;
}

void write_in_place(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || !write_and_close(file, text)) fail(path, "cannot be written");
}

/// `path` is the name for messages, `target` the file behind it.
void replace_file(const std::string& path, const std::string& target, std::string_view text) {
  const std::string temporary = fmt::format("{}.{}.part", target, ::getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail(path, "cannot be written");
  if (write_and_close(file, text) && std::rename(temporary.c_str(), target.c_str()) == 0) return;
  const int cause = errno;
  std::remove(temporary.c_str());
  errno = cause;
  fail(path, "cannot be written");
}

}  // namespace

void write_file(const std::string& path, std::string_view text) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) return write_in_place(path, text);
  const bool is_link = fs::is_symlink(fs::symlink_status(path, unknown)) && fs::exists(status);
  replace_file(path, is_link ? fs::canonical(path, unknown).string() : path, text);
}

void write_output(const std::string& path, std::string_view text) {
  if (!path.empty() && path != "-") return write_file(path, text);
  if (!write_all(stdout, text)) fail("standard output", "cannot be written");
}

}  // namespace foretrain

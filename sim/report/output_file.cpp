// The rename is the only moment at which the final name changes.
#include "sim/report/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

[[noreturn]] void fail(const std::string& path, std::string_view what) { throw WorldError(fmt::format("{}: {}: {}", path, what, std::strerror(errno))); }

bool write_all(std::FILE* file, std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0; }

}  // namespace

void write_file(const std::string& path, std::string_view text) {
  const std::string temporary = fmt::format("{}.{}.part", path, ::getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail(path, "cannot be written");
  const bool written = write_all(file, text);
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int cause = errno;
  std::remove(temporary.c_str());
  errno = cause;
  fail(path, "cannot be written");
}

void write_output(const std::string& path, std::string_view text) {
  if (!path.empty() && path != "-") return write_file(path, text);
  if (!write_all(stdout, text)) fail("standard output", "cannot be written");
}

}  // namespace foretrain

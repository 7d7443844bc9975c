// Writes results. A wrong output is refused before anything is written; then a file is replaced as a whole.
#include "sim/report/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/narrow_table.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/terminal.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Writes text to standard output, or into the memory of a held run. The text has passed printable_lines()
/// already.
void write_standard_output(std::string_view shown) {
  if (HeldOutput* held = HeldOutput::current()) return held->output += shown, void();
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() && std::fflush(stdout) == 0) return;
  throw EnvironmentError(
      fmt::format("standard output: cannot be written: {}", std::generic_category().message(errno)));
}

/// Writes a table with prose wrapped to the terminal's width, in colours when the terminal has them.
void write_for_people(const std::string& text) {
  const std::size_t width = prose_width(STDOUT_FILENO);
  const std::string shown = wrapped(narrowed(printable_lines(text), width), width);
  write_standard_output(takes_colours(STDOUT_FILENO) ? coloured(shown) : shown);
}

/// Returns true when the path names the file that standard output is, as in `foretrain … -o /dev/stdout >>
/// log`. Replacing that file would lose what is in it.
bool is_standard_output(const std::string& path) {
  struct stat named {
  }, standard{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &standard) == 0 &&
         S_ISREG(named.st_mode) && named.st_dev == standard.st_dev && named.st_ino == standard.st_ino;
}

}  // namespace

void write_file(const std::string& path, std::string_view text) { write_bytes(path, printable_lines(text)); }

// A file that was read as input in this run is never overwritten.
void write_bytes(const std::string& path, std::string_view bytes) {
  if (path == "-") return write_standard_output(bytes);
  if (was_read(path))
    throw InputError(fmt::format("{} was read and would be overwritten", path), "write to another file");
  if (is_standard_output(path)) return write_standard_output(bytes);
  write_whole_file(path, bytes);
}

void write_output(const std::string& path, std::string_view text) {
  path.empty() || path == "-" ? write_standard_output(printable_lines(text)) : write_file(path, text);
}

// Only a table on standard output is for people; a file gets the text as it is.
void write_report(const std::string& path, std::string_view format, const std::string& text) {
  const bool is_for_people = format == "table" && (path.empty() || path == "-");
  is_for_people ? write_for_people(text) : write_output(path, text);
}

// Tables and pages show their warnings themselves.
void warn_beside(std::string_view format, const std::vector<std::string>& warnings) {
  if (format != "csv" && format != "json") return;
  std::string lines;
  for (const std::string& warning : warnings) lines += "warning: " + printable(warning) + "\n";
  write_message(takes_colours(STDERR_FILENO) ? coloured(lines) : lines);
}

// Existing files are compared by device and inode, others by their absolute path without links.
bool is_same_output(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::exists(a, none) && fs::exists(b, none))
    return fs::is_regular_file(a, none) && fs::equivalent(a, b, none);
  return fs::weakly_canonical(fs::absolute(behind_links(a)), none) ==
         fs::weakly_canonical(fs::absolute(behind_links(b)), none);
}

}  // namespace foretrain

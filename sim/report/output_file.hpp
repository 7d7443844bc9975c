// Writes results to standard output, or to a file that appears as a whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Writes a text as write_whole_file() does. The text passes printable_lines(), because results quote names
/// and notes of others. Standard output is used when `path` is "-" or names the file that it is. Throws
/// EnvironmentError with path and cause, and InputError for a file that was read; then nothing is lost.
void write_file(const std::string& path, std::string_view text);

/// Writes bytes that are no text in the same way.
void write_bytes(const std::string& path, std::string_view bytes);

/// Writes to `path`, or to standard output when it is empty or "-".
void write_output(const std::string& path, std::string_view text);

/// Writes a report. A table on a terminal has its prose wrapped to the width, and warnings in colour.
void write_report(const std::string& path, std::string_view format, const std::string& text);

/// Writes warnings to standard error for formats that programs read (csv, json); other formats show their
/// own.
void warn_beside(std::string_view format, const std::vector<std::string>& warnings);

/// Returns true when writing to one path would destroy or mix up what is written to the other. Devices and
/// pipes never count.
bool is_same_output(const std::string& a, const std::string& b);

}  // namespace foretrain

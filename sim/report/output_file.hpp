// Writing results: to standard output or to a file that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// As write_whole_file(), with the text as printable_lines(): results hold names and notes that others wrote.
/// To standard output when `path` is "-" or names the file that standard output is. Throws EnvironmentError
/// with path and cause, and InputError for a file that was read: nothing is lost.
void write_file(const std::string& path, std::string_view text);

/// The same of bytes that are no text.
void write_bytes(const std::string& path, std::string_view bytes);

/// To `path`, or to standard output when it is empty or "-".
void write_output(const std::string& path, std::string_view text);

/// The report of a format: tables have prose around them, which is broken at a terminal's width, and
/// warnings, which it shows in colour.
void write_report(const std::string& path, std::string_view format, const std::string& text);

/// Warnings beside a format that programs read, where nobody would see them; others show their own.
void warn_beside(std::string_view format, const std::vector<std::string>& warnings);

/// Whether what is written to one of two paths would be lost, or mixed up, by writing to the other. Never of
/// devices and pipes.
bool is_same_output(const std::string& a, const std::string& b);

}  // namespace foretrain

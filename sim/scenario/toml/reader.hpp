// The only use of toml++: text becomes plain values with their places. All syntax errors are reported
// together, within size limits.
#pragma once

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// Largest text that a reader takes, in bytes; a larger one is an error before parsing.
inline constexpr std::size_t kLargestText = 4u << 20;
/// Largest text of a network in bytes: a recorded one lists every operator of a step.
inline constexpr std::size_t kLargestModelText = 64u << 20;

/// Parses TOML. Reports binary text, texts over `largest`, more than kMostValues values and nesting over 64
/// as diagnostics. After a syntax error the line is omitted and parsing goes on, so that later mistakes are
/// reported too (at most 20 times).
Table parse_toml(const SourceText& source, Diagnostics& diagnostics, std::size_t largest = kLargestText);

/// Reads a whole file, at most `largest` bytes. Throws InputError when it does not exist, is a folder, is
/// empty or too large; EnvironmentError when reading fails.
SourceText read_text_file(const std::string& path, std::size_t largest = kLargestText);

/// Returns why read_text_file() would refuse a path before opening it ("is a folder, not a file"); empty when
/// it would not.
std::string text_file_refusal(const std::string& path, std::size_t largest = kLargestText);

/// Returns whether there is a file of that name that may be read (given_files.hpp).
bool is_readable_file(const std::string& path);

/// Returns whether read_text_file() has read the file that `path` names at present, under this name or
/// another (a link).
bool was_read(const std::string& path);
/// Forgets the files that this thread has read. It is called before another command of the same process,
/// which may overwrite files that the last one read.
void forget_read_files();

}  // namespace foretrain

// The only door to toml++: text to plain values with places, every syntax error at once, within size limits.
#pragma once

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// Largest text a reader takes; more is an error before parsing.
inline constexpr std::size_t kLargestText = 4u << 20;
/// Of a network: a recorded one lists every operator of a step.
inline constexpr std::size_t kLargestModelText = 64u << 20;

/// Parses TOML. Rejects binary text, texts over `largest`, more than kMostValues values and nesting over 64
/// with a diagnostic. After a syntax error the line is left out and parsing goes on, so that later mistakes
/// are reported too (at most 20 times).
Table parse_toml(const SourceText& source, Diagnostics& diagnostics, std::size_t largest = kLargestText);

/// Reads a whole file, at most `largest` bytes. Throws InputError when it does not exist, is a folder, is
/// empty or too large; EnvironmentError when reading fails.
SourceText read_text_file(const std::string& path, std::size_t largest = kLargestText);

/// Why read_text_file would refuse a path before opening it ("is a folder, not a file"); empty when it would
/// not.
std::string text_file_refusal(const std::string& path, std::size_t largest = kLargestText);

/// Whether there is a file of that name, and it may be read (given_files.hpp).
bool is_readable_file(const std::string& path);

/// Whether read_text_file() has read the file that `path` names now, under this name or another (a link).
bool was_read(const std::string& path);
/// Of this thread: before another command of the same process, which may write over what the last one read.
void forget_read_files();

}  // namespace foretrain

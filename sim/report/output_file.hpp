// Writing results: to standard output or to a file that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Writes to a temporary name in the same folder, then renames; pipes and devices are written to directly. Throws WorldError with path and
/// cause; nothing half-written stays.
void write_file(const std::string& path, std::string_view text);

/// To `path`, or to standard output when it is empty or "-". Throws WorldError.
void write_output(const std::string& path, std::string_view text);

}  // namespace foretrain

// The samples file of a run: what it holds already, whether it is of this machine, and how it is replaced as
// a whole.
#pragma once

#include <string>
#include <vector>

#include "calibrate/micro/plan/point.hpp"

namespace foretrain::micro {

/// What stands in `path`; nothing when there is no such file. Throws InputError when it is no samples CSV,
/// EnvironmentError when it cannot be read.
SampleFile read_store(const std::string& path);

/// Why points measured under `known` may not stand beside those of a machine with `own`: gpu, driver and cpu
/// must agree where both have them.
std::string mismatch(const Settings& known, const Settings& own);

/// `own`, and what only `known` has.
Settings merged_provenance(const Settings& known, const Settings& own);

/// As write_whole_file(): the file is there whole or as before. "-" is standard output. Throws
/// EnvironmentError.
void write_store(const std::string& path, const Settings& provenance, const std::vector<Sample>& samples);

}  // namespace foretrain::micro

// What was read out of measured logs: rows and samples of each file, what they say of themselves, and every
// line that was skipped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// files: a paragraph each; samples: with a line for each operation and job of a file.
enum class SampleListing : std::uint8_t { files, samples };

std::string list_sample_files(const std::vector<SampleFile>& files, SampleListing listing);

}  // namespace foretrain

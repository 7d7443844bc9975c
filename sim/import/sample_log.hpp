// Measurements out of whatever people already have: the format is found by what a file holds.
#pragma once

#include <string>

#include "sim/base/diagnostics.hpp"
#include "sim/import/logs/log_hints.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Reads every format of sim/import/logs/catalog.cpp, several in one text too, and traces of torch.profiler;
/// `format` then names all of them. Throws InputError for a text in which no format is recognised, for binary
/// files and for those above kLargestSamples; a file that is recognised never fails as a whole, what is wrong
/// in it is in `skipped`.
SampleFile read_sample_log(const SourceText& source, const LogHints& hints = {});

/// The same of a file; traces are read in a stream, however large they are.
SampleFile read_sample_file(const std::string& path, const LogHints& hints = {});

}  // namespace foretrain

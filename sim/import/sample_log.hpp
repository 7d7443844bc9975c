// Reads measurements from the files that people have already. The format is recognised by the content of a
// file.
#pragma once

#include <string>

#include "sim/base/diagnostics.hpp"
#include "sim/import/logs/log_hints.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Reads every format of sim/import/logs/catalog.cpp, also several in one text, and traces of torch.profiler;
/// `format` of the result names all of them.
/// Throws InputError for a text in which no format is recognised, for binary files, and for files larger than
/// kLargestSamples.
/// A recognised file never fails as a whole: what is wrong in it is in `skipped`.
SampleFile read_sample_log(const SourceText& source, const LogHints& hints = {});

/// Does the same for a file. Traces are read as a stream, however large they are.
SampleFile read_sample_file(const std::string& path, const LogHints& hints = {});

}  // namespace foretrain

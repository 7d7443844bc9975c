// What must hold for everything that a reader of logs returns, whatever it was given.
#pragma once

#include <cstdint>
#include <string>

#include "sim/import/logs/readers.hpp"
#include "sim/scenario/csv/sample_sheet.hpp"
#include "tests/fuzz/require.hpp"

namespace foretrain::test {

inline SourceText fuzz_text(const std::uint8_t* data, std::size_t size) {
  return {"fuzz.log", std::string(reinterpret_cast<const char*>(data), size)};
}

/// Gaps are filled, so that tables without a list of devices become samples too.
inline LogHints fuzz_hints() {
  LogHints hints;
  hints.op = "all_gather", hints.gpus = 8, hints.nodes = 2, hints.model = "resnet50",
  hints.batch_per_gpu = 32;
  return hints;
}

inline void check_file(const SampleFile& file) {
  require(file.rows >= 0 && file.samples.size() <= kMostSamples && file.skipped.size() <= kMostSkippedLines);
  for (const Sample& sample : file.samples) require(fault_of(sample).empty() && sample.line >= 0);
  for (const SkippedLine& skipped : file.skipped) require(skipped.line >= 0 && !skipped.why.empty());
  const SourceText written{"written.csv", write_samples_csv(file.provenance, file.samples)};
  Diagnostics diagnostics(written);
  const SampleFile again = read_samples_csv(written, diagnostics);
  require(diagnostics.empty() && again.skipped.empty() && again.samples.size() == file.samples.size());
  for (std::size_t i = 0; i < again.samples.size(); ++i) {
    const Sample &a = file.samples[i], &b = again.samples[i];
    require(a.kind == b.kind && a.bytes == b.bytes && a.value == b.value && a.unit == b.unit &&
            a.spread == b.spread && a.repeats == b.repeats);
  }
}

using LogReader = void (*)(const SourceText&, const LogHints&, SampleSheet&);

inline void check_reader(const std::uint8_t* data, std::size_t size, LogReader read) {
  const SourceText source = fuzz_text(data, size);
  SampleSheet sheet(source.name, "fuzz");
  try {
    read(source, fuzz_hints(), sheet);
    check_file(sheet.take());
  } catch (const InputError& error) {
    require(!error.diagnostics().empty());
  }
}

}  // namespace foretrain::test

// A sheet on which a reader collects the samples of one file. It rejects wrong samples with their reason, and
// everything is bounded.
#pragma once

#include <cstddef>
#include <string>

#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Number of reasons that are kept; the last of them counts the others.
inline constexpr std::size_t kMostSkippedLines = 1000;

/// Upper limits of a sample's size and GPUs.
inline constexpr std::int64_t kLargestSampleBytes = std::int64_t{1} << 50;
inline constexpr int kMostSampleGpus = 10'000'000;

/// Collects the samples that a log reader finds, with the lines that could not be used and the reasons. It
/// has limits, so that no log can fill the memory. Not thread-safe.
class SampleSheet {
 public:
  SampleSheet(const std::string& file, std::string format);

  /// Counts one more line of a table. Returns false once kMostSamples rows were counted: the reader may stop.
  bool count_row();
  /// Takes a sample whose value, spread and counts are possible; skips others with the reason.
  void add(Sample sample);
  /// Notes a line that was not used, and why.
  void skip(int line, std::string why);
  /// Notes a fact about the file. The first value of a key is kept; empty values and those after the 200th
  /// key are dropped.
  void state(const std::string& key, std::string value);
  /// Returns the value of a fact; empty when it was not stated.
  std::string stated(const std::string& key) const;
  /// Takes over the results of another reader; facts that were stated before win over its facts.
  void include(SampleFile other);
  bool is_full() const { return is_full_; }
  std::size_t samples() const { return file_.samples.size(); }
  int rows() const { return file_.rows; }

  /// Returns the collected file; the sheet is empty afterwards.
  SampleFile take();

 private:
  SampleFile file_;
  /// Skipped lines beyond the kept reasons.
  std::size_t unnamed_ = 0;
  bool is_full_ = false;
};

/// Returns why a sample is impossible; empty when it is possible.
std::string fault_of(const Sample& sample);

}  // namespace foretrain

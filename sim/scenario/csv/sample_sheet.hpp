// Where a reader puts the samples of one file as it finds them: keeps what is wrong out, with its reason, and
// everything bounded.
#pragma once

#include <cstddef>
#include <string>

#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Reasons that are kept; the last of them counts the others.
inline constexpr std::size_t kMostSkippedLines = 1000;

/// The largest size and the most GPUs that a sample may have.
inline constexpr std::int64_t kLargestSampleBytes = std::int64_t{1} << 50;
inline constexpr int kMostSampleGpus = 10'000'000;

/// Collects the samples that a log reader finds, with the lines that could not be used and why. It has
/// limits, so that no log can fill the memory.
class SampleSheet {
 public:
  SampleSheet(const std::string& file, std::string format);

  /// One more line of a table. False once kMostSamples rows were counted: the reader may stop.
  bool count_row();
  /// Takes a sample whose value, spread and counts are possible; skips others with the reason.
  void add(Sample sample);
  void skip(int line, std::string why);
  /// A fact about the file; the first value of a key stays, empty ones and those behind the 200th key are
  /// dropped.
  void state(const std::string& key, std::string value);
  /// The value of a fact; empty when it was not stated.
  std::string stated(const std::string& key) const;
  /// Takes over what another reader found; its facts stay behind those stated before.
  void include(SampleFile other);
  bool is_full() const { return is_full_; }
  std::size_t samples() const { return file_.samples.size(); }
  int rows() const { return file_.rows; }

  /// All of it; the sheet is empty afterwards.
  SampleFile take();

 private:
  SampleFile file_;
  std::size_t unnamed_ = 0;
  bool is_full_ = false;
};

/// Why a sample cannot be; empty when it can.
std::string fault_of(const Sample& sample);

}  // namespace foretrain

// A sweep: a scenario and the keys that vary over it. It has from 1 to a billion cases, none of which is made
// before it is requested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/study.hpp"

namespace foretrain {

/// Upper limits: values of one axis and of all together, axes, conditions and their length in bytes, cases.
inline constexpr std::size_t kMostAxisValues = 1'000'000;
inline constexpr std::size_t kMostSweepAxes = 64;
inline constexpr std::size_t kMostConditions = 100;
inline constexpr std::size_t kLongestCondition = 2000;
inline constexpr std::int64_t kMostCases = 1'000'000'000;

/// An expression over the axes that must be true for a case.
struct SweepCondition {
  std::string text;
  SourceSpan span;
};

/// The contents of a sweep file: axes, conditions and samples. Cases are numbered and made on demand, so that
/// a million of them need no memory.
struct Sweep {
  /// A file or one of the catalog; empty: the axes name model and cluster.
  std::string scenario;
  std::int64_t seed = 1;
  /// Method by which the samples are drawn.
  std::string method;
  /// Axes that are combined with each other, every value with every value; numbers of GPUs last.
  std::vector<StudyAxis> axes;
  /// Axes whose values belong together, the i-th with the i-th; all have equally many.
  std::vector<StudyAxis> sampled;
  std::vector<SweepCondition> conditions;
  SourceSpan axes_span{};

  /// Returns whether an axis varies the key.
  bool varies(std::string_view key) const;
};

/// Reads the text of a sweep and reports every mistake in it. Names of files are relative to the sweep's
/// folder.
Sweep read_sweep(const SourceText& source, Diagnostics& diagnostics);

/// Returns the sweep as text with axes of plain values, so that nothing is left to read or draw. read_sweep()
/// of it gives the same sweep.
std::string sweep_text(const Sweep& sweep);

/// Adds numbers of GPUs as the last axis unless the sweep has one. SweepCases checks the number of cases.
void add_gpus(Sweep& sweep, const std::vector<int>& gpus);

}  // namespace foretrain

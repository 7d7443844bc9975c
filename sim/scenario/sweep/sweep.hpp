// A sweep: a scenario and the keys that vary over it, as a file says it; from 1 to a billion cases, none of
// which is held before it is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/study.hpp"

namespace foretrain {

/// Values of one axis, and of all together; axes; conditions and their length; cases.
inline constexpr std::size_t kMostAxisValues = 1'000'000;
inline constexpr std::size_t kMostSweepAxes = 64;
inline constexpr std::size_t kMostConditions = 100;
inline constexpr std::size_t kLongestCondition = 2000;
inline constexpr std::int64_t kMostCases = 1'000'000'000;

/// An expression over the axes that a case must make true.
struct SweepCondition {
  std::string text;
  SourceSpan span;
};

/// A sweep file: axes, conditions and samples of the scenarios that it stands for. Cases are numbered and
/// made on demand, so that a million of them need no memory.
struct Sweep {
  std::string scenario;  ///< a file or one of the catalog; empty: the axes say model and cluster
  std::int64_t seed = 1;
  std::string method;              ///< of the samples
  std::vector<StudyAxis> axes;     ///< every value with every other's; numbers of GPUs last
  std::vector<StudyAxis> sampled;  ///< values drawn together: all have as many
  std::vector<SweepCondition> conditions;
  SourceSpan axes_span{};

  bool varies(std::string_view key) const;
};

/// Reads the text of a sweep with every mistake in it. Names of files are relative to the sweep's folder.
Sweep read_sweep(const SourceText& source, Diagnostics& diagnostics);

/// The sweep with nothing left to read or draw: axes of plain values. read_sweep() of it gives the same.
std::string sweep_text(const Sweep& sweep);

/// Numbers of GPUs become the last axis where the sweep has none. Throws InputError for too many cases.
void add_gpus(Sweep& sweep, const std::vector<int>& gpus);

}  // namespace foretrain

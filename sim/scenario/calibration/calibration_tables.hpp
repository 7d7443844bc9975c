// The parts of a calibration file: constants, collectives with their segments.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// Upper limits of the tables and lists of a file.
inline constexpr std::size_t kMostCollectives = 10'000, kMostSegments = 64, kMostProvenance = 100;
/// Upper limits of the samples of a constant or segment, and of spread and residual: a factor of 20,000 would
/// be no measurement.
inline constexpr int kMostOfSamples = 1'000'000'000;
inline constexpr double kLargestSpread = 10;

/// Reads the table [constants] of a document. Names that are not among `known` are reported.
std::vector<CalibratedConstant> read_constants(TableReader& document,
                                               const std::vector<ConstantRange>& known);

/// Reads the list of tables [[collectives]] of a document.
std::vector<CalibratedCollective> read_collectives(TableReader& document);  // calibration_collectives.cpp

/// Reads a quantity in SI units, not rounded to whole picoseconds. Reports a value without a unit, or with a
/// wrong one.
std::optional<double> read_quantity(TableReader& reader, std::string_view key, Dimension dimension);

}  // namespace foretrain

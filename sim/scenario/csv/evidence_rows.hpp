// Stores of evidence as text: rows of what was measured beside what was predicted, read and written.
#pragma once

#include <string>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/evidence_table.hpp"

namespace foretrain {

/// A store may have so many rows and bytes.
inline constexpr std::size_t kMostObservations = 1'000'000;
inline constexpr std::size_t kLargestEvidence = 256u << 20;
/// Measured over predicted beyond this, either way, is a mistake of the unit: the largest residual of
/// docs/measured is 7.
inline constexpr double kLargestQuotient = 100;

/// "# foretrain evidence 1" and the names of the columns.
std::string evidence_heading();
/// One line with its end. Control characters and line ends within texts are written out.
std::string evidence_line(const Observation& row);

/// Which rows of a store are wanted; those of the other kind are not looked at.
enum class EvidenceOf : std::uint8_t { everything, trainings, collectives };

/// Appends the rows of a whole store. A last line without its end is of a writer that was interrupted: it is
/// left out, and the answer is true. Reports every other wrong field at its place: another version, missing
/// columns, no numbers, times that are off by a factor that only a unit explains.
bool read_evidence(const SourceText& source, Diagnostics& diagnostics, EvidenceTable& into,
                   EvidenceOf wanted = EvidenceOf::everything);

}  // namespace foretrain

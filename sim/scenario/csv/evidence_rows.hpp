// Stores of evidence as text: rows of measurements beside their predictions, read and written.
#pragma once

#include <string>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/evidence_table.hpp"

namespace foretrain {

/// Largest numbers of rows and bytes of a store.
inline constexpr std::size_t kMostObservations = 1'000'000;
inline constexpr std::size_t kLargestEvidence = 256u << 20;
/// Largest ratio of measured to predicted, or the reverse; more is a mistake of the unit. The largest
/// residual of docs/measured is 7.
inline constexpr double kLargestQuotient = 100;

/// Returns the heading: "# foretrain evidence 1" and the names of the columns.
std::string evidence_heading();
/// Returns a row as one line with its end. Control characters and line ends within texts are written out.
std::string evidence_line(const Observation& row);

/// The rows of a store that are wanted; rows of the other kind are skipped unread.
enum class EvidenceOf : std::uint8_t { everything, trainings, collectives };

/// Appends the rows of a whole store. If the last line has no end, its writer was interrupted: the line is
/// omitted, and the result is true. Reports every other wrong field at its place: another version, missing
/// columns, fields that are no numbers, times that are off by a factor that only a unit explains.
bool read_evidence(const SourceText& source, Diagnostics& diagnostics, EvidenceTable& into,
                   EvidenceOf wanted = EvidenceOf::everything);

}  // namespace foretrain

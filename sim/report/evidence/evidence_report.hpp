// Evidence in words and tables: what it did to a prediction, what a store holds, what a field is worth.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/evidence/field_scores.hpp"

namespace foretrain {

/// That line, and what trainings like it did: "Corrected by -6 % ± 5 from 9 measurements, nearest: …" and how
/// to leave it; empty when nothing was.
std::string evidence_line_of(const AppliedEvidence& evidence);
/// Short runs that would make the training's largest step surest, and the command that keeps them; empty when
/// none would.
std::string runs_to_make_lines(const AppliedEvidence& evidence);
/// Every neighbour with distance and weight, for --explain; empty when there is none.
std::string neighbour_lines(const AppliedEvidence& evidence);

/// The same of a collective's curve, over its sizes; empty when nothing was.
std::string evidence_line_of(const CollectiveCurve& curve);
/// The neighbours of the largest size that was corrected.
std::string neighbour_lines(const CollectiveCurve& curve);

/// One line for each source: rows by kind and machines.
std::string write_evidence_list(const std::vector<Observation>& rows);
/// Whether a name of the row has the word in it.
bool has_word(const Observation& row, const std::string& word);
/// One line for each row of a run, source, model, GPU or cluster that has `word` in its name.
std::string write_evidence_rows(const std::vector<Observation>& rows, const std::string& word);
/// Of a machine: the series that are farthest off, and the runs about which least is known.
std::string write_evidence_report(const ResidualField& field, const std::string& cluster);
std::string write_field_scores(const std::vector<FieldScore>& scores, ResidualHoldOut left_out);

/// A line for each number of known jobs.
std::string write_learning(const Learning& learning, const std::string& cluster);
/// The same as an SVG of two panels: jobs one by one beside what was expected of them, and errors over known
/// jobs. Requires jobs.
std::string draw_learning(const Learning& learning, const std::string& cluster);

}  // namespace foretrain

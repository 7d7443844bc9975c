// Evidence in words and tables: its effect on a prediction, the content of a store, and how much a field is
// worth.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/evidence/field_scores.hpp"

namespace foretrain {

/// Returns the line about evidence below a prediction: measurements of the same training, and the correction
/// by similar ones, such as "Corrected by -6 % ± 5 from 9 measurements, nearest: …". Empty when there was no
/// evidence.
std::string evidence_line_of(const AppliedEvidence& evidence);
/// Returns short runs that would narrow the prediction of the largest step, and the command that stores them.
/// Empty when none would.
std::string runs_to_make_lines(const AppliedEvidence& evidence);
/// Returns every neighbour with distance and weight, for --explain; empty when there is none.
std::string neighbour_lines(const AppliedEvidence& evidence);

/// Returns the line about the corrections of a collective's sizes; empty when there was none.
std::string evidence_line_of(const CollectiveCurve& curve);
/// Returns the neighbours of the largest corrected size.
std::string neighbour_lines(const CollectiveCurve& curve);

/// Returns the output of `evidence list`: one line for each source with its numbers of rows and clusters.
std::string write_evidence_list(const std::vector<Observation>& rows);
/// Returns true when a name of the row (run, source, model, GPU, cluster, operation) contains the word.
bool has_word(const Observation& row, const std::string& word);
/// Returns the output of `evidence show`: one line for each row that has the word.
std::string write_evidence_rows(const std::vector<Observation>& rows, const std::string& word);
/// Returns the output of `evidence report`: the rows of a machine that are farthest off, and the runs about
/// which least is known.
std::string write_evidence_report(const ResidualField& field, const std::string& cluster);
/// Returns the output of `evidence score`: one line for each group of rows.
std::string write_field_scores(const std::vector<FieldScore>& scores, ResidualHoldOut left_out);

/// Returns the output of `evidence learn`: one line for each number of known jobs.
std::string write_learning(const Learning& learning, const std::string& cluster);
/// Returns the drawing of `evidence learn` as SVG with two panels: each job with what was expected of it, and
/// errors by number of known jobs. Precondition: there are jobs.
std::string draw_learning(const Learning& learning, const std::string& cluster);

}  // namespace foretrain

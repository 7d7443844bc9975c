// The commands evidence add, list, show, score, learn, report and export. A store of evidence holds measured
// runs with their predictions; the Gaussian process of their residuals corrects later predictions.
//
// All commands print to standard output and use report/evidence. A file that is no store, or a row with a
// wrong unit, is wrong input (exit code 1); a store that cannot be locked or written is an environment error
// (exit code 3).
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/evidence/field_scores.hpp"
#include "sim/analysis/evidence/observed.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/evidence/evidence_report.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns the source for added rows. "each" gives an empty source: rows keep the sources that they name.
std::string source_of(const EvidenceCommand& command) {
  return command.source == "each" ? "" : command.source;
}

/// Reads one file and predicts its rows. A file that is itself a store is taken over as it is.
MeasuredEvidence evidence_in(const std::string& file, const EvidenceCommand& command) {
  ProgressLine progress("predicting the rows of " + file);
  const Progress show = [&progress](double done) { progress.show(done); };
  ObservationOptions options{FORETRAIN_VERSION, source_of(command), {}};
  options.jobs = !options.source.empty();
  if (!command.provenance.empty())
    options.provenance =
        read_or_throw(read_text_file(command.provenance, kLargestProvenance), read_provenance);
  const SourceText text = read_text_file(file, kLargestEvidence);
  if (text.text.starts_with("# foretrain evidence")) {
    EvidenceStore store = read_store(file);
    return {std::move(store.rows), std::move(store.inputs), {}, {}};
  }
  return evidence_of(read_or_throw(text, read_measurements), options, show);
}

/// Throws InputError when a row was refused, for instance for a wrong unit. Then nothing of the file is kept.
void refuse(const std::string& file, const std::vector<std::string>& refused) {
  if (refused.empty()) return;
  std::vector<Diagnostic> mistakes;
  for (const std::string& why : refused) mistakes.push_back({printable(file), {}, "", why, ""});
  throw InputError(std::move(mistakes));
}

/// Opens the stores of --store and prints their warnings to standard error.
ResidualField field_of(const EvidenceCommand& command) {
  OpenedEvidence opened = open_evidence(command.store);
  for (const std::string& warning : opened.warnings) write_message(fmt::format("warning: {}\n", warning));
  return std::move(opened.field);
}

}  // namespace

// The files are all read before the store is changed, so that a mistake in the last file leaves it as it was.
void run_evidence_add(const EvidenceCommand& command) {
  EvidenceStore more;
  std::string skipped;
  for (const std::string& file : command.files) {
    MeasuredEvidence evidence = evidence_in(file, command);
    refuse(file, evidence.refused);
    for (const std::string& why : evidence.skipped)
      skipped += fmt::format("{} {}: left out\n", printable(file), printable(why));
    std::move(evidence.rows.begin(), evidence.rows.end(), std::back_inserter(more.rows));
    std::move(evidence.inputs.begin(), evidence.inputs.end(), std::back_inserter(more.inputs));
  }
  add_to_store(named_store(command.store), more);
  write_output("", skipped + fmt::format("{} in {}\n", counted(static_cast<int>(more.rows.size()), "row"),
                                         printable(named_store(command.store))));
}

// Prints how many rows each source has.
void run_evidence_list(const EvidenceCommand& command) {
  write_output("", write_evidence_list(field_of(command).rows()));
}

void run_evidence_show(const EvidenceCommand& command) {
  // WORD limits the rows to those that have it in a name.
  write_output("", write_evidence_rows(field_of(command).rows(), command.word));
}

// Prints errors of raw and corrected predictions; each row is corrected without rows of its own group.
void run_evidence_score(const EvidenceCommand& command) {
  // The options accept only names of the two tables, so a name's place is the value of its enum.
  const auto place = [](const auto& names, const std::string& name) {
    return std::ranges::find(names, name) - names.begin();
  };
  const auto left_out = static_cast<ResidualHoldOut>(place(kFieldLeftOutNames, command.leave_out));
  write_output(
      "", write_field_scores(score_field(field_of(command),
                                         static_cast<Observed>(place(kObservedNames, command.of)), left_out),
                             left_out));
}

// Writes a table of errors by number of known jobs, and with --svg a drawing of it.
void run_evidence_learn(const EvidenceCommand& command) {
  const ResidualField field = field_of(command);
  check_outputs({{"-o", command.output}, {"--svg", command.svg}});
  // Learning is shown after 0, 1, 3, 10 and 30 jobs of the cluster.
  const Learning learning = learn_machine(field, command.cluster, {0, 1, 3, 10, 30});
  if (learning.jobs.empty())
    throw InputError(fmt::format("no run of one GPU of {} is there", printable(command.cluster)),
                     "`foretrain evidence list` says what is");
  if (!command.svg.empty()) write_file(command.svg, draw_learning(learning, command.cluster));
  write_output(command.output, write_learning(learning, command.cluster));
}

// Prints where predictions of the machine are worst and which measurements would help most.
void run_evidence_report(const EvidenceCommand& command) {
  write_output("", write_evidence_report(field_of(command), command.cluster));
}

// Inputs are not exported, so another version of foretrain cannot predict these rows again.
void run_evidence_export(const EvidenceCommand& command) {
  std::string text = evidence_heading();
  // Every row leaves under the source of --source, so that private names are not exported.
  for (Observation row : read_store(named_store(command.store)).rows) {
    row.source = command.source;
    text += evidence_line(row);
  }
  write_output(command.output, text);
}

}  // namespace foretrain

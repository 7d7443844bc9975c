// Stores of evidence: the shipped ones, the site's and the user's own. Functions here find them, read them
// for a prediction, and change one of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/scenario/csv/evidence_inputs.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"

namespace foretrain {

/// Source of the user's own rows. Every prediction is asked for as this source.
inline constexpr const char* kOwnSource = "own";

/// Returns $XDG_DATA_HOME/foretrain/evidence.csv, or the same below ~/.local/share. Empty when neither
/// variable names a folder.
std::string personal_store();
/// Returns the file that --store names, or the user's own store when `file` is empty.
std::string named_store(const std::string& file);
/// Returns $FORETRAIN_EVIDENCE; empty: the site has no store.
std::string site_store();

/// The evidence of all stores that a command reads, as a Gaussian process of residuals.
struct OpenedEvidence {
  ResidualField field;
  /// Sentences about stores that could not be read and rows that were left out.
  std::vector<std::string> warnings;
};

/// Opens evidence. `asked` is "" for all stores (a broken one is a warning), "off" for none, or one file,
/// which throws InputError when it is wrong. Rows that another version predicted are predicted again from the
/// inputs that their store keeps; rows without inputs are left out with a warning. Rows that are not `wanted`
/// are left out silently.
OpenedEvidence open_evidence(const std::string& asked, EvidenceOf wanted = EvidenceOf::everything);

/// Content of one store.
struct EvidenceStore {
  std::vector<Observation> rows;
  /// Inputs of the rows. Without its input, a row cannot be predicted again by another version.
  std::vector<EvidenceInput> inputs{};
};
/// Reads one store. Throws InputError with every mistake, EnvironmentError when the file cannot be read.
EvidenceStore read_store(const std::string& file);

/// Adds rows to a store. A measurement that is already there is replaced, as the model may have changed
/// since. Repeated measurements of one run stay next to each other.
void add_to_store(const std::string& file, const EvidenceStore& more);
/// Adds the row of a finished job. An older row with the same job id, cluster and source is replaced.
void add_job_to_store(const std::string& file, const Observation& row, const EvidenceInput& input);

/// Changes a store: `change` edits its content, which is then written as a whole or not at all. Inputs of
/// runs without rows are dropped. Programs that change one store at the same time wait for each other. A
/// missing store counts as empty; one that cannot be read stays as it is. Throws InputError,
/// EnvironmentError.
void change_store(const std::string& file, const std::function<void(EvidenceStore& store)>& change);

/// Removes the rows for which `is_gone` returns true, and keeps them in FILE.removed. `choose` receives all
/// rows first and throws InputError when they are not those that the user meant. Returns the removed rows.
std::vector<Observation> remove_from_store(const std::string& file,
                                           const std::function<void(const std::vector<Observation>&)>& choose,
                                           const std::function<bool(const Observation&)>& is_gone);
/// Restores and returns what the last remove_from_store() took out. Throws InputError when nothing was
/// removed.
std::vector<Observation> restore_removed(const std::string& file);

}  // namespace foretrain

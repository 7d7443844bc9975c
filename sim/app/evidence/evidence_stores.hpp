// Where evidence lies: what comes with the program, the site's store, the user's own; reading them for a
// prediction, and changing one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/scenario/csv/evidence_inputs.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"

namespace foretrain {

/// Whose a user's own rows are, and whose every question is.
inline constexpr const char* kOwnSource = "own";

/// $XDG_DATA_HOME/foretrain/evidence.csv, or below ~/.local/share; empty without a home.
std::string personal_store();
/// The file that --store names, or the user's own store.
std::string named_store(const std::string& file);
/// $FORETRAIN_EVIDENCE; empty: the site has none.
std::string site_store();

/// The evidence of all stores that a command reads, as a Gaussian process of residuals, with warnings about
/// what could not be read.
struct OpenedEvidence {
  ResidualField field;
  std::vector<std::string> warnings;  ///< of stores that could not be read, and rows of other versions
};

/// "": everything there is, and what cannot be read is a warning; "off": nothing; else that file alone, which
/// throws InputError when it is wrong. Rows that another version predicted are predicted again from the
/// inputs that their store keeps; those without are left out with a warning, and so are, without one, those
/// that are not `wanted`.
OpenedEvidence open_evidence(const std::string& asked, EvidenceOf wanted = EvidenceOf::everything);

/// What one store holds.
struct EvidenceStore {
  std::vector<Observation> rows;
  std::vector<EvidenceInput> inputs{};  ///< of rows; without them another version cannot predict the row
};
/// Throws InputError.
EvidenceStore read_store(const std::string& file);

/// What was read again takes the place of what is there, for the model may have changed since; a run's
/// repeats stay beside each other.
void add_to_store(const std::string& file, const EvidenceStore& more);
/// The same of a job, which is there once: a row of its id on its cluster goes.
void add_job_to_store(const std::string& file, const Observation& row, const EvidenceInput& input);

/// Gives the store to `change` and writes what that leaves of it, whole or not at all; inputs of runs without
/// rows go. Programs that change the store at the same time wait for each other. A store that is not there is
/// empty; one that cannot be read stays as it is. Throws InputError, EnvironmentError.
void change_store(const std::string& file, const std::function<void(EvidenceStore& store)>& change);

/// Takes out the rows that `is_gone` says, and keeps them in FILE.removed. `choose` is given all rows first,
/// and throws InputError where they are not what was asked for. Returns what was taken out.
std::vector<Observation> remove_from_store(const std::string& file,
                                           const std::function<void(const std::vector<Observation>&)>& choose,
                                           const std::function<bool(const Observation&)>& is_gone);
/// Puts back what the last remove_from_store() took out, and returns it. Throws InputError when there is
/// nothing.
std::vector<Observation> restore_removed(const std::string& file);

}  // namespace foretrain

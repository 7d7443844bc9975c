// Where evidence lies: what comes with the program, the site's store, the user's own; reading them for a
// prediction, and changing one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"

namespace foretrain {

/// Whose a user's own rows are, and whose every question is.
inline constexpr const char* kOwnSource = "own";

/// $XDG_DATA_HOME/foretrain/evidence.csv, or below ~/.local/share; empty without a home.
std::string personal_store();
/// $FORETRAIN_EVIDENCE; empty: the site has none.
std::string site_store();

struct OpenedEvidence {
  ResidualField field;
  std::vector<std::string> warnings;  ///< of stores that could not be read, and rows of other versions
};

/// "": everything there is, and what cannot be read is a warning; "off": nothing; else that file alone, which
/// throws InputError when it is wrong. Rows that another version predicted are left out, and so are those
/// that are not `wanted`.
OpenedEvidence open_evidence(const std::string& asked, EvidenceOf wanted = EvidenceOf::everything);

/// The rows of one store. Throws InputError.
std::vector<Observation> read_store(const std::string& file);

/// What was read again takes the place of what is there, for the model may have changed since; a run's
/// repeats stay beside each other.
void add_to_store(const std::string& file, const std::vector<Observation>& rows);
/// The same of a job, which is there once: a row of its id on its cluster goes.
void add_job_to_store(const std::string& file, const Observation& row);

/// Gives the rows of the store to `change` and writes what that returns, whole or not at all. Programs that
/// change the store at the same time wait for each other. A store that is not there is empty; one that cannot
/// be read stays as it is. Throws InputError, WorldError.
void change_store(const std::string& file,
                  const std::function<std::vector<Observation>(std::vector<Observation>)>& change);

}  // namespace foretrain

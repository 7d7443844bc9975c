// As what a measured row is run beyond its columns: what rules of a provenance file read in its texts, and
// what its own numbers say.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/provenance.hpp"

namespace foretrain {

/// What was read into rows, for the report: "framework.name = "tensorflow"", or "strategy single for
/// horovod", and for how many rows.
struct RowFact {
  std::string what;
  int rows = 0;
  std::string said_in{};  ///< by the rule; empty for what the columns alone say
  friend bool operator==(const RowFact&, const RowFact&) = default;
};

/// MirroredStrategy is one process: a series of `mirrored` that goes on over several nodes is of
/// multi_worker_mirrored, from its first row.
std::vector<RowFact> name_several_workers(std::vector<Measurement>& rows);

/// On one GPU, a strategy that this program does not simulate is the plain training loop, `single`. Rows of
/// known strategies, and all on several GPUs, stay.
std::vector<RowFact> name_plain_loops(std::vector<Measurement>& rows);

/// Adds the settings that rules tell, unless the row's own settings or a rule above say that key, and takes a
/// rule's cluster and strategy. The facts are in the order of the rules; one that finds no row has no rows.
std::vector<RowFact> tell(const Provenance& provenance, std::vector<Measurement>& rows);

}  // namespace foretrain

// Rows of a table that came into force with a version of NCCL.
#pragma once

#include <span>

#include "sim/collective/nccl/version.hpp"

namespace foretrain::nccl {

/// Returns the last row whose `since` is not after the version, or the first row if all are later. Requires
/// rows in the order of their versions.
template <typename Row>
const Row& row_in_force(std::span<const Row> rows, const Version& version) {
  const Row* best = &rows.front();
  for (const Row& row : rows) {
    if (row.since <= version) best = &row;
  }
  return *best;
}

}  // namespace foretrain::nccl

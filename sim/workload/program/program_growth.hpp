// Growth of a program to a number of ranks on which nobody recorded it. Every number of the program becomes a
// function of the ranks, found from two recordings (docs/models/networks.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/workload/program/program.hpp"

namespace foretrain {

/// Returns a number on `ranks` ranks that was `few` on `few_ranks` and `many` on `many_ranks`. The first rule
/// that holds for both is taken, in this order:
/// - the same number;
/// - in proportion to the ranks;
/// - a share of rows, rounded up (the parts of sharded tensors);
/// - that share times the ranks (tensors padded to the ranks);
/// - a sum of several of these: on a line between both, which differ by at most 5 %;
/// - a straight line.
/// Returns nothing where no rule holds or the result is no whole number.
std::optional<std::int64_t> grown(std::int64_t few, std::int64_t few_ranks, std::int64_t many,
                                  std::int64_t many_ranks, std::int64_t ranks);

/// A program for another number of ranks than it was recorded on, or the reason why there is none.
struct GrownProgram {
  Program program;
  std::string why_not;  ///< a sentence; empty: `program` holds
};
/// Returns the program on `ranks` ranks. Requires few.world < many.world. Both recordings must issue the same
/// rows in the same order; otherwise `why_not` says what differs. Linear in rows and sizes.
GrownProgram program_on(const Program& few, const Program& many, std::int64_t ranks);

}  // namespace foretrain

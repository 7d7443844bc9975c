// One program on a number of ranks on which nobody recorded it: every number of it as a function of the
// ranks, found from two recordings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/workload/program/program.hpp"

namespace foretrain {

/// A number that was `few` on `few_ranks` and `many` on `many_ranks`, on `ranks`: the same, in proportion, a
/// share of rows rounded up (the parts of what is sharded), that share times the ranks (what is padded to
/// them), a sum of several of these (on a line between both, which differ by at most 5 %), or on a line; the
/// first that holds for both, in this order. Nothing where none does, or is no whole number.
std::optional<std::int64_t> grown(std::int64_t few, std::int64_t few_ranks, std::int64_t many,
                                  std::int64_t many_ranks, std::int64_t ranks);

/// A program for another number of ranks than it was recorded on, or the reason why there is none.
struct GrownProgram {
  Program program;
  std::string why_not;  ///< a sentence; empty: `program` holds
};
/// Requires few.world < many.world. Both issue the same rows in the same order, or there is a reason why not.
GrownProgram program_on(const Program& few, const Program& many, std::int64_t ranks);

}  // namespace foretrain

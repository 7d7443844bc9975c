// The speeds per channel that NCCL's search tries, fastest first.
#pragma once

#include <span>

#include "sim/collective/nccl/link_book.hpp"

namespace foretrain::nccl {

/// src/graph/search.cc; facts/NCCL_TUNING.md 4.1. Never empty.
std::span<const Milli> search_speeds(const Version& version, int compute_capability, bool several_nodes);

}  // namespace foretrain::nccl

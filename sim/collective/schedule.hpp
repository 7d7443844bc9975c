// A collective as a list of transfers that carries its own proof: who sends which chunk to whom, step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

enum class CollectiveOp : std::uint8_t { all_reduce, broadcast, reduce_scatter, all_gather };

/// As nccl-tests names it: "all_reduce", …
std::string_view name_of(CollectiveOp op);

enum class Combine : std::uint8_t { copy, reduce };

/// In step `step`, rank `from` sends its state of `chunk` to rank `to`, which replaces its own (copy) or adds it (reduce).
struct Transfer {
  int step, from, to, chunk;
  Combine combine;
};

struct Schedule {
  CollectiveOp op = CollectiveOp::all_reduce;
  int ranks = 1;
  int chunks = 1;  ///< the message is cut into this many equal chunks
  int root = 0;    ///< broadcast
  std::vector<Transfer> transfers;
  int steps() const;
};

/// Follows which ranks' contributions every rank holds of every chunk, and checks the post-condition: all_reduce: every rank has
/// every chunk with each contribution once; broadcast: every rank has the root's data; reduce_scatter: chunk c complete at rank
/// c * ranks / chunks; all_gather: chunk c of that owner everywhere. Within a step all sends happen before all receives.
/// Returns nothing when the schedule is proven, else what is wrong. Cost O(transfers x ranks).
std::optional<std::string> disprove(const Schedule& schedule);

}  // namespace foretrain

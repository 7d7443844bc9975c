// A collective written out transfer by transfer, and the proof that it does what its name says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

enum class CollectiveOp : std::uint8_t { all_reduce, broadcast, reduce_scatter, all_gather, reduce };

/// "all_reduce", "broadcast", …, as in nccl-tests.
std::string_view name_of(CollectiveOp op);

/// In step `step`, rank `from` sends its `chunk` to `to`, which overwrites its own (copy) or adds to it (reduce).
struct Transfer {
  enum Combine : std::uint8_t { copy, reduce };
  int step = 0;
  int from = 0;
  int to = 0;
  int chunk = 0;
  Combine combine = copy;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// All transfers of one collective; the message is cut in `chunks` equal pieces. all_gather and reduce_scatter have one chunk per
/// rank, and rank r's own part is chunk r. `root` matters to broadcast and reduce.
struct Schedule {
  CollectiveOp op = CollectiveOp::all_reduce;
  int ranks = 1;
  int chunks = 1;
  int root = 0;
  std::vector<Transfer> transfers;
  /// Last step + 1.
  int steps() const;
};

/// Plays the schedule with the sets of ranks whose data each rank holds per chunk. Within one step a rank sends what it had before
/// the step. Afterwards: all_reduce: every rank has every rank's contribution exactly once in every chunk; broadcast: the root's
/// data everywhere; reduce: the root has every contribution once; reduce_scatter: rank r has that of chunk r; all_gather: every
/// rank has chunk r of every rank r. Returns the first thing that is wrong, nothing when the schedule is proven.
std::optional<std::string> disprove(const Schedule& schedule);

}  // namespace foretrain

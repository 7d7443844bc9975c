// A collective written out transfer by transfer, and the proof that it does what its name says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// The operations of NCCL and MPI that can be scheduled, with the names that nccl-tests uses.
enum class CollectiveOp : std::uint8_t {
  all_reduce,
  broadcast,
  reduce_scatter,
  all_gather,
  reduce,
  alltoall,
  sendrecv,
  gather,
  scatter
};

/// Returns whether data passes from rank to rank, from or to a root, piece after piece.
inline bool is_chain(CollectiveOp op) { return op == CollectiveOp::broadcast || op == CollectiveOp::reduce; }
inline constexpr std::array<CollectiveOp, 9> kCollectiveOps{
    CollectiveOp::all_reduce, CollectiveOp::broadcast, CollectiveOp::reduce_scatter,
    CollectiveOp::all_gather, CollectiveOp::reduce,    CollectiveOp::alltoall,
    CollectiveOp::sendrecv,   CollectiveOp::gather,    CollectiveOp::scatter};

/// Returns the name in nccl-tests: "all_reduce", "broadcast", …
std::string_view name_of(CollectiveOp op);

/// Returns the bus bandwidth over the algorithm bandwidth as nccl-tests prints them. It is 2(n-1)/n for
/// all_reduce, (n-1)/n for reduce_scatter, all_gather, alltoall, gather and scatter, and 1 for broadcast,
/// reduce and sendrecv. It is also the least number of bytes per byte of size that some rank must send or
/// receive. Requires n >= 1.
double busbw_factor(CollectiveOp op, int n);

/// Returns whether the operation has a root: broadcast, reduce, gather, scatter.
bool has_root(CollectiveOp op);
/// Returns whether the operation adds: all_reduce, reduce, reduce_scatter.
bool adds(CollectiveOp op);

/// A transfer: in step `step`, rank `from` sends its `chunk` to `to`, which overwrites its own (copy) or adds
/// to it (reduce).
struct Transfer {
  enum Combine : std::uint8_t { copy, reduce };
  int step = 0;
  int from = 0;
  int to = 0;
  int chunk = 0;
  Combine combine = copy;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// The transfers of one collective. The message is cut into `chunks` equal pieces, which depend on the
/// operation:
/// - all_reduce, broadcast, reduce: any number of pieces of the buffer;
/// - reduce_scatter, all_gather, gather, scatter: a multiple of the ranks; the chunks / ranks pieces of place
///   p's part follow each other;
/// - sendrecv: likewise; place p's pieces go to the rank after it;
/// - alltoall: ranks x ranks; chunk d * ranks + p goes from place p to place p + d (mod ranks).
///
/// Place p is rank order[p], or rank p when `order` is empty. `root` matters to the operations that have one.
/// Ranks from `ranks` on are `switches` switches. They hold no data of their own, and what they add they add
/// to nothing.
struct Schedule {
  CollectiveOp op = CollectiveOp::all_reduce;
  int ranks = 1;
  int chunks = 1;
  int root = 0;
  std::vector<Transfer> transfers{};
  int switches = 0;
  std::vector<int> order{};
  /// Returns the last step + 1.
  int steps() const;
};

/// Counts of each rank's data in a chunk; empty: nothing is there.
using Contributions = std::vector<int>;

/// The content of a chunk of a rank (or switch) before the collective, and the required content after it.
class Contract {
 public:
  /// Copies its arguments; `order` is as in Schedule.
  Contract(CollectiveOp op, int ranks, int chunks, int root, std::vector<int> order);
  Contributions before(int rank, int chunk) const;
  /// Returns the required content; empty: it does not matter.
  Contributions after(int rank, int chunk) const;

 private:
  int rank_at(int place) const;
  int owner(int chunk) const { return rank_at(chunk / (chunks_ / ranks_)); }
  int receiver(int chunk) const;
  Contributions only(int rank) const;

  CollectiveOp op_;
  int ranks_, chunks_, root_;
  std::vector<int> order_;
};

/// Returns why the numbers of ranks and chunks, the root or the order are impossible; nothing if they are
/// valid.
std::optional<std::string> wrong_shape(CollectiveOp op, int ranks, int chunks, int root,
                                       const std::vector<int>& order);

/// Plays the schedule with the sets of ranks whose data each rank holds per chunk. Within one step a rank
/// sends what it had before the step. The required result is:
/// - all_reduce: every rank has every rank's contribution exactly once in every chunk;
/// - broadcast: the root's data is everywhere;
/// - reduce: the root has every contribution once;
/// - reduce_scatter: each rank has every contribution of its part once;
/// - all_gather, gather: every rank, or the root, has every part;
/// - scatter: each rank has its part of the root's buffer;
/// - alltoall, sendrecv: each chunk is at its receiver.
/// Returns the first fault, or nothing if the schedule is proven right.
std::optional<std::string> disprove(const Schedule& schedule);

}  // namespace foretrain

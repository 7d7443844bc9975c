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

/// Whether data passes from rank to rank, from or to a root, piece after piece.
inline bool is_chain(CollectiveOp op) { return op == CollectiveOp::broadcast || op == CollectiveOp::reduce; }
inline constexpr std::array<CollectiveOp, 9> kCollectiveOps{
    CollectiveOp::all_reduce, CollectiveOp::broadcast, CollectiveOp::reduce_scatter,
    CollectiveOp::all_gather, CollectiveOp::reduce,    CollectiveOp::alltoall,
    CollectiveOp::sendrecv,   CollectiveOp::gather,    CollectiveOp::scatter};

/// "all_reduce", "broadcast", …, as in nccl-tests.
std::string_view name_of(CollectiveOp op);

/// Bus bandwidth over algorithm bandwidth as nccl-tests prints them: 2(n-1)/n for all_reduce; (n-1)/n for
/// reduce_scatter, all_gather, alltoall, gather, scatter; 1 for broadcast, reduce, sendrecv. Also the least
/// bytes per byte of size that some rank must send or receive. Requires n >= 1.
double busbw_factor(CollectiveOp op, int n);

/// The op has a root: broadcast, reduce, gather, scatter.
bool has_root(CollectiveOp op);
/// The op adds: all_reduce, reduce, reduce_scatter.
bool adds(CollectiveOp op);

/// In step `step`, rank `from` sends its `chunk` to `to`, which overwrites its own (copy) or adds to it
/// (reduce).
struct Transfer {
  enum Combine : std::uint8_t { copy, reduce };
  int step = 0;
  int from = 0;
  int to = 0;
  int chunk = 0;
  Combine combine = copy;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// All transfers of one collective; the message is cut in `chunks` equal pieces. What the chunks are:
///  all_reduce, broadcast, reduce   any number of pieces of the buffer
///  reduce_scatter, all_gather, gather, scatter   a multiple of the ranks; the chunks / ranks pieces of place
///  p's part follow each other sendrecv   likewise; place p's pieces go to the rank after it alltoall   ranks
///  x ranks; chunk d * ranks + p goes from place p to place p + d (mod ranks)
/// Place p is rank order[p], or rank p when `order` is empty. `root` matters to the ops that have one. Ranks
/// from `ranks` on are `switches` switches: they hold no data of their own, and what they add they add to
/// nothing.
struct Schedule {
  CollectiveOp op = CollectiveOp::all_reduce;
  int ranks = 1;
  int chunks = 1;
  int root = 0;
  std::vector<Transfer> transfers{};
  int switches = 0;
  std::vector<int> order{};
  /// Last step + 1.
  int steps() const;
};

/// How often each rank's data is in a chunk; empty = nothing there.
using Contributions = std::vector<int>;

/// What is in a chunk of a rank (or switch) before the collective, and what must be there after it.
class Contract {
 public:
  /// Copies what it needs; `order` as in Schedule.
  Contract(CollectiveOp op, int ranks, int chunks, int root, std::vector<int> order);
  Contributions before(int rank, int chunk) const;
  /// Empty = it does not matter.
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

/// Why the numbers of ranks and chunks, the root or the order cannot be; nothing when they can.
std::optional<std::string> wrong_shape(CollectiveOp op, int ranks, int chunks, int root,
                                       const std::vector<int>& order);

/// Plays the schedule with the sets of ranks whose data each rank holds per chunk. Within one step a rank
/// sends what it had before the step. Afterwards: all_reduce: every rank has every rank's contribution
/// exactly once in every chunk; broadcast: the root's data everywhere; reduce: the root has every
/// contribution once; reduce_scatter: each rank has that of its part; all_gather: every rank has every part;
/// gather: the root has; scatter: each rank has its part of the root's buffer; alltoall, sendrecv: the chunk
/// is where it goes. Returns the first thing that is wrong, nothing when the schedule is proven.
std::optional<std::string> disprove(const Schedule& schedule);

}  // namespace foretrain

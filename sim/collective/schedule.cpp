// The proof counts, for each rank and chunk, how often each rank's contribution is in the sum held there.
//
// The proof is symbolic. Every rank starts with one unit of its own contribution for each chunk that it
// holds, and a transfer adds or replaces. At the end the counts must be those that the operation's name
// promises: exactly one of each rank for sums, exactly the root's for a broadcast. The proof does not depend
// on timing, because it follows only the order that the schedule guarantees.
#include "sim/collective/schedule.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// The chunks of all ranks and switches.
class Holdings {
 public:
  Holdings(const Schedule& schedule, const Contract& contract) : chunks_(schedule.chunks) {
    const int holders = schedule.ranks + schedule.switches;
    held_.reserve(static_cast<std::size_t>(holders) * static_cast<std::size_t>(chunks_));
    for (int rank = 0; rank < holders; ++rank) {
      for (int chunk = 0; chunk < chunks_; ++chunk) held_.push_back(contract.before(rank, chunk));
    }
  }

  Contributions& at(int rank, int chunk) {
    return held_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(chunks_) +
                 static_cast<std::size_t>(chunk)];
  }

 private:
  int chunks_;
  std::vector<Contributions> held_;
};

std::string describe(const Transfer& t) {
  return fmt::format("step {}: rank {} to rank {}, chunk {}", t.step, t.from, t.to, t.chunk);
}

/// Returns the first transfer between ranks, at a step or of a chunk that do not exist.
std::optional<std::string> wrong_transfer(const Schedule& s) {
  const int holders = s.ranks + s.switches;
  for (const Transfer& t : s.transfers) {
    const bool ranks_exist = t.from >= 0 && t.from < holders && t.to >= 0 && t.to < holders && t.from != t.to;
    if (!ranks_exist || t.step < 0 || t.chunk < 0 || t.chunk >= s.chunks)
      return describe(t) + " does not exist";
  }
  return std::nullopt;
}

/// Returns whether another transfer of the step writes to the same place and one of the two overwrites.
bool written_twice(const std::vector<Transfer>& transfers, std::size_t begin, std::size_t end,
                   std::size_t i) {
  const Transfer& t = transfers[i];
  for (std::size_t other = begin; other < end; ++other) {
    const Transfer& o = transfers[other];
    const bool same_place = o.to == t.to && o.chunk == t.chunk;
    if (other != i && same_place && (o.combine == Transfer::copy || t.combine == Transfer::copy)) return true;
  }
  return false;
}

/// Plays the transfers of one step on the content before it.
std::optional<std::string> play_step(Holdings& held, const std::vector<Transfer>& transfers,
                                     std::size_t begin, std::size_t end) {
  // Sends read the content before the step, so they are collected first.
  std::vector<Contributions> sent;
  for (std::size_t i = begin; i < end; ++i) {
    sent.push_back(held.at(transfers[i].from, transfers[i].chunk));
    if (sent.back().empty()) return describe(transfers[i]) + ": the sender has nothing there";
  }
  for (std::size_t i = begin; i < end; ++i) {
    const Transfer& t = transfers[i];
    Contributions& target = held.at(t.to, t.chunk);
    const Contributions& data = sent[i - begin];
    if (written_twice(transfers, begin, end, i)) return describe(t) + ": written twice";
    if (t.combine == Transfer::copy) {
      target = data;
      continue;
    }
    if (target.empty()) return describe(t) + ": the receiver has nothing to add to";
    for (std::size_t rank = 0; rank < data.size(); ++rank) target[rank] += data[rank];
  }
  return std::nullopt;
}

/// Returns whether every rank owns an equal part, so that the chunks must divide among the ranks.
bool cut_by_rank(CollectiveOp op) {
  return op == CollectiveOp::all_gather || op == CollectiveOp::reduce_scatter || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter || op == CollectiveOp::sendrecv;
}

}  // namespace

std::string_view name_of(CollectiveOp op) {
  constexpr std::array<std::string_view, kCollectiveOps.size()> kNames{
      "all_reduce", "broadcast", "reduce_scatter", "all_gather", "reduce",
      "alltoall",   "sendrecv",  "gather",         "scatter"};
  return kNames[static_cast<std::size_t>(op)];
}

/// The definition is that of nccl-tests (doc/PERFORMANCE.md).
double busbw_factor(CollectiveOp op, int n) {
  const double once = static_cast<double>(n - 1) / n;
  if (op == CollectiveOp::all_reduce) return 2 * once;
  const bool whole =
      op == CollectiveOp::broadcast || op == CollectiveOp::reduce || op == CollectiveOp::sendrecv;
  return whole ? 1 : once;
}

bool has_root(CollectiveOp op) {
  return op == CollectiveOp::broadcast || op == CollectiveOp::reduce || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter;
}

bool adds(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::reduce || op == CollectiveOp::reduce_scatter;
}

int Schedule::steps() const {
  int last = -1;
  for (const Transfer& t : transfers) last = std::max(last, t.step);
  return last + 1;
}

Contract::Contract(CollectiveOp op, int ranks, int chunks, int root, std::vector<int> order)
    : op_(op), ranks_(ranks), chunks_(chunks), root_(root), order_(std::move(order)) {}

/// Returns the rank at a place of the order.
int Contract::rank_at(int place) const {
  return order_.empty() ? place : order_[static_cast<std::size_t>(place)];
}

/// Returns the rank that a chunk goes to.
int Contract::receiver(int chunk) const {
  if (op_ == CollectiveOp::alltoall) return rank_at((chunk % ranks_ + chunk / ranks_) % ranks_);
  return op_ == CollectiveOp::sendrecv ? (owner(chunk) + 1) % ranks_ : owner(chunk);
}

/// Returns one contribution of one rank.
Contributions Contract::only(int rank) const {
  Contributions one(static_cast<std::size_t>(ranks_));
  one[static_cast<std::size_t>(rank)] = 1;
  return one;
}

Contributions Contract::before(int rank, int chunk) const {
  // A switch that adds begins with empty sums, one that copies with no data.
  if (rank >= ranks_) return adds(op_) ? Contributions(static_cast<std::size_t>(ranks_)) : Contributions{};
  bool starts_with = true;
  if (op_ == CollectiveOp::broadcast || op_ == CollectiveOp::scatter) starts_with = rank == root_;
  if (op_ == CollectiveOp::all_gather || op_ == CollectiveOp::gather || op_ == CollectiveOp::sendrecv)
    starts_with = rank == owner(chunk);
  if (op_ == CollectiveOp::alltoall) starts_with = rank == rank_at(chunk % ranks_);
  return starts_with ? only(rank) : Contributions{};
}

Contributions Contract::after(int rank, int chunk) const {
  const Contributions all(static_cast<std::size_t>(ranks_), 1), any;
  switch (op_) {
    case CollectiveOp::all_reduce:
      return all;
    case CollectiveOp::broadcast:
      return only(root_);
    case CollectiveOp::all_gather:
      return only(owner(chunk));
    case CollectiveOp::reduce_scatter:
      return rank == owner(chunk) ? all : any;
    case CollectiveOp::reduce:
      return rank == root_ ? all : any;
    case CollectiveOp::gather:
      return rank == root_ ? only(owner(chunk)) : any;
    case CollectiveOp::scatter:
      return rank == owner(chunk) ? only(root_) : any;
    case CollectiveOp::alltoall:
      return rank == receiver(chunk) ? only(rank_at(chunk % ranks_)) : any;
    case CollectiveOp::sendrecv:
      return rank == receiver(chunk) ? only(owner(chunk)) : any;
  }
  return any;
}

std::optional<std::string> wrong_shape(CollectiveOp op, int ranks, int chunks, int root,
                                       const std::vector<int>& order) {
  // Schedules are proofs for small jobs: the content grows with ranks x chunks x ranks.
  constexpr int kMost = 4096;
  if (ranks < 1 || ranks > kMost || chunks < 1 || chunks > kMost)
    return fmt::format("{} ranks and {} chunks", ranks, chunks);
  if (root < 0 || root >= ranks) return fmt::format("root {} is not a rank", root);
  const bool uneven =
      (cut_by_rank(op) && chunks % ranks != 0) || (op == CollectiveOp::alltoall && chunks != ranks * ranks);
  if (uneven) return fmt::format("{} chunks for {} ranks", chunks, ranks);
  std::vector<int> sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int>(i)) return "the order does not name every rank once";
  }
  if (!order.empty() && std::ssize(order) != ranks) return "the order does not name every rank once";
  return std::nullopt;
}

std::optional<std::string> disprove(const Schedule& schedule) {
  const Schedule& s = schedule;
  if (std::optional<std::string> wrong = wrong_shape(s.op, s.ranks, s.chunks, s.root, s.order)) return wrong;
  if (std::optional<std::string> wrong = wrong_transfer(s)) return wrong;
  std::vector<Transfer> transfers = s.transfers;
  std::ranges::stable_sort(transfers, {}, &Transfer::step);
  const Contract contract(s.op, s.ranks, s.chunks, s.root, s.order);
  Holdings held(s, contract);
  for (std::size_t begin = 0; begin < transfers.size();) {
    std::size_t end = begin;
    while (end < transfers.size() && transfers[end].step == transfers[begin].step) ++end;
    if (std::optional<std::string> wrong = play_step(held, transfers, begin, end)) return wrong;
    begin = end;
  }
  for (int rank = 0; rank < s.ranks; ++rank) {
    for (int chunk = 0; chunk < s.chunks; ++chunk) {
      const Contributions want = contract.after(rank, chunk);
      // The content there does not matter if this is empty.
      if (!want.empty() && held.at(rank, chunk) != want)
        return fmt::format("{}: rank {} ends with the wrong data in chunk {}", name_of(s.op), rank, chunk);
    }
  }
  return std::nullopt;
}

}  // namespace foretrain

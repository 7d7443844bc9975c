// The proof counts, for each rank and chunk, how often each rank's contribution is in the sum held there.
#include "sim/collective/schedule.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// How often each rank's data is in a chunk; empty = nothing there.
using Contributions = std::vector<int>;

/// The chunks of all ranks.
class Holdings {
 public:
  explicit Holdings(const Schedule& schedule) : schedule_(schedule), held_(static_cast<std::size_t>(schedule.ranks * schedule.chunks)) {
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
        if (starts_with(rank, chunk)) at(rank, chunk) = only(rank);
      }
    }
  }

  Contributions& at(int rank, int chunk) { return held_[static_cast<std::size_t>(rank * schedule_.chunks + chunk)]; }

  Contributions only(int rank) const {
    Contributions one(static_cast<std::size_t>(schedule_.ranks));
    one[static_cast<std::size_t>(rank)] = 1;
    return one;
  }

 private:
  bool starts_with(int rank, int chunk) const {
    if (schedule_.op == CollectiveOp::broadcast) return rank == schedule_.root;
    if (schedule_.op == CollectiveOp::all_gather) return rank == chunk;
    return true;
  }

  const Schedule& schedule_;
  std::vector<Contributions> held_;
};

std::string describe(const Transfer& t) { return fmt::format("step {}: rank {} to rank {}, chunk {}", t.step, t.from, t.to, t.chunk); }

std::optional<std::string> wrong_shape(const Schedule& s) {
  constexpr int kMost = 4096;
  if (s.ranks < 1 || s.ranks > kMost || s.chunks < 1 || s.chunks > kMost) return fmt::format("{} ranks and {} chunks", s.ranks, s.chunks);
  if (s.root < 0 || s.root >= s.ranks) return fmt::format("root {} is not a rank", s.root);
  const bool by_rank = s.op == CollectiveOp::all_gather || s.op == CollectiveOp::reduce_scatter;
  if (by_rank && s.chunks != s.ranks) return fmt::format("{} chunks for {} ranks", s.chunks, s.ranks);
  for (const Transfer& t : s.transfers) {
    const bool ranks_exist = t.from >= 0 && t.from < s.ranks && t.to >= 0 && t.to < s.ranks && t.from != t.to;
    if (!ranks_exist || t.step < 0 || t.chunk < 0 || t.chunk >= s.chunks) return describe(t) + " does not exist";
  }
  return std::nullopt;
}

/// Plays the transfers of one step on what was held before it.
std::optional<std::string> play_step(Holdings& held, const std::vector<Transfer>& transfers, std::size_t begin, std::size_t end) {
  std::vector<Contributions> sent;
  for (std::size_t i = begin; i < end; ++i) {
    sent.push_back(held.at(transfers[i].from, transfers[i].chunk));
    if (sent.back().empty()) return describe(transfers[i]) + ": the sender has nothing there";
  }
  for (std::size_t i = begin; i < end; ++i) {
    const Transfer& t = transfers[i];
    Contributions& target = held.at(t.to, t.chunk);
    const Contributions& data = sent[i - begin];
    for (std::size_t other = begin; other < end; ++other) {
      const Transfer& o = transfers[other];
      const bool same_place = o.to == t.to && o.chunk == t.chunk;
      if (other != i && same_place && (o.combine == Transfer::copy || t.combine == Transfer::copy)) return describe(t) + ": written twice";
    }
    if (t.combine == Transfer::copy) {
      target = data;
    } else {
      if (target.empty()) return describe(t) + ": the receiver has nothing to add to";
      for (std::size_t rank = 0; rank < data.size(); ++rank) target[rank] += data[rank];
    }
  }
  return std::nullopt;
}

/// What a rank must hold in the end; empty = it does not matter.
Contributions wanted(const Schedule& s, const Holdings& held, int rank, int chunk) {
  Contributions all(static_cast<std::size_t>(s.ranks), 1);
  switch (s.op) {
    case CollectiveOp::all_reduce:
      return all;
    case CollectiveOp::broadcast:
      return held.only(s.root);
    case CollectiveOp::all_gather:
      return held.only(chunk);
    case CollectiveOp::reduce_scatter:
      return rank == chunk ? all : Contributions{};
    case CollectiveOp::reduce:
      return rank == s.root ? all : Contributions{};
  }
  return {};
}

}  // namespace

std::string_view name_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return "all_reduce";
    case CollectiveOp::broadcast:
      return "broadcast";
    case CollectiveOp::reduce_scatter:
      return "reduce_scatter";
    case CollectiveOp::all_gather:
      return "all_gather";
    case CollectiveOp::reduce:
      return "reduce";
  }
  return {};
}

int Schedule::steps() const {
  int last = -1;
  for (const Transfer& t : transfers) last = std::max(last, t.step);
  return last + 1;
}

std::optional<std::string> disprove(const Schedule& schedule) {
  if (std::optional<std::string> wrong = wrong_shape(schedule)) return wrong;
  std::vector<Transfer> transfers = schedule.transfers;
  std::ranges::stable_sort(transfers, {}, &Transfer::step);
  Holdings held(schedule);
  for (std::size_t begin = 0; begin < transfers.size();) {
    std::size_t end = begin;
    while (end < transfers.size() && transfers[end].step == transfers[begin].step) ++end;
    if (std::optional<std::string> wrong = play_step(held, transfers, begin, end)) return wrong;
    begin = end;
  }
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
      const Contributions want = wanted(schedule, held, rank, chunk);
      if (!want.empty() && held.at(rank, chunk) != want)
        return fmt::format("{}: rank {} ends with the wrong data in chunk {}", name_of(schedule.op), rank, chunk);
    }
  }
  return std::nullopt;
}

}  // namespace foretrain

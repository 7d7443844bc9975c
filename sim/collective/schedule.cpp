// The proof is a simulation on counts: holdings[rank][chunk][source] = how often source's contribution is in it.
#include "sim/collective/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace foretrain {

namespace {

using Contributions = std::vector<int>;  ///< per source rank
using Holdings = std::vector<std::vector<Contributions>>;

int owner_of(const Schedule& s, int chunk) { return chunk * s.ranks / s.chunks; }

/// What every rank has before the first step.
Holdings initial(const Schedule& s) {
  Holdings holdings(static_cast<std::size_t>(s.ranks), std::vector<Contributions>(static_cast<std::size_t>(s.chunks), Contributions(static_cast<std::size_t>(s.ranks), 0)));
  for (int rank = 0; rank < s.ranks; ++rank) {
    for (int chunk = 0; chunk < s.chunks; ++chunk) {
      const bool has = s.op == CollectiveOp::broadcast ? rank == s.root : s.op == CollectiveOp::all_gather ? owner_of(s, chunk) == rank : true;
      if (has) holdings[static_cast<std::size_t>(rank)][static_cast<std::size_t>(chunk)][static_cast<std::size_t>(rank)] = 1;
    }
  }
  return holdings;
}

Contributions wanted(const Schedule& s, int chunk) {
  const bool reduces = s.op == CollectiveOp::all_reduce || s.op == CollectiveOp::reduce_scatter;
  Contributions all(static_cast<std::size_t>(s.ranks), reduces ? 1 : 0);
  if (!reduces) all[static_cast<std::size_t>(s.op == CollectiveOp::broadcast ? s.root : owner_of(s, chunk))] = 1;
  return all;
}

bool must_have(const Schedule& s, int rank, int chunk) { return s.op != CollectiveOp::reduce_scatter || owner_of(s, chunk) == rank; }

std::optional<std::string> apply_step(const Schedule& s, std::size_t begin, std::size_t end, Holdings& holdings) {
  std::vector<Contributions> sent;
  for (std::size_t i = begin; i < end; ++i) {
    const Transfer& t = s.transfers[i];
    sent.push_back(holdings[static_cast<std::size_t>(t.from)][static_cast<std::size_t>(t.chunk)]);
    const bool empty = std::all_of(sent.back().begin(), sent.back().end(), [](int count) { return count == 0; });
    if (empty) return fmt::format("step {}: rank {} sends chunk {}, which it does not have", t.step, t.from, t.chunk);
  }
  for (std::size_t i = begin; i < end; ++i) {
    const Transfer& t = s.transfers[i];
    Contributions& held = holdings[static_cast<std::size_t>(t.to)][static_cast<std::size_t>(t.chunk)];
    for (std::size_t source = 0; source < held.size(); ++source) {
      held[source] = sent[i - begin][source] + (t.combine == Combine::reduce ? held[source] : 0);
    }
  }
  return std::nullopt;
}

bool in_range(const Schedule& s, const Transfer& t) {
  return t.from >= 0 && t.from < s.ranks && t.to >= 0 && t.to < s.ranks && t.chunk >= 0 && t.chunk < s.chunks && t.from != t.to;
}

}  // namespace

std::string_view name_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce: return "all_reduce";
    case CollectiveOp::broadcast: return "broadcast";
    case CollectiveOp::reduce_scatter: return "reduce_scatter";
    case CollectiveOp::all_gather: break;
  }
  return "all_gather";
}

int Schedule::steps() const {
  int last = -1;
  for (const Transfer& t : transfers) last = std::max(last, t.step);
  return last + 1;
}

std::optional<std::string> disprove(const Schedule& s) {
  Holdings holdings = initial(s);
  for (std::size_t begin = 0; begin < s.transfers.size();) {
    std::size_t end = begin;
    while (end < s.transfers.size() && s.transfers[end].step == s.transfers[begin].step) {
      if (!in_range(s, s.transfers[end])) return fmt::format("transfer {} names a rank or chunk that does not exist", end);
      ++end;
    }
    if (end < s.transfers.size() && s.transfers[end].step < s.transfers[begin].step) return fmt::format("transfer {} goes back in time", end);
    if (auto wrong = apply_step(s, begin, end, holdings)) return wrong;
    begin = end;
  }
  for (int rank = 0; rank < s.ranks; ++rank) {
    for (int chunk = 0; chunk < s.chunks; ++chunk) {
      if (!must_have(s, rank, chunk)) continue;
      if (holdings[static_cast<std::size_t>(rank)][static_cast<std::size_t>(chunk)] != wanted(s, chunk)) return fmt::format("rank {} ends without the right chunk {}", rank, chunk);
    }
  }
  return std::nullopt;
}

}  // namespace foretrain

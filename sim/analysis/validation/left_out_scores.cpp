// A row's spread is taken from rows of its kind that were not left out with it, so that no row is its own
// witness.
#include "sim/analysis/validation/left_out_scores.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace foretrain {

namespace {

/// Fewer rows, or of fewer machines, are no evidence of their own.
constexpr int kFewestRows = 30, kFewestMachines = 4;

using Rows = std::vector<const ScoredRow*>;

double relative(double log_error) { return std::expm1(log_error); }

ErrorStatistics errors(const Rows& rows, double ScoredRow::*residual, bool only_large) {
  std::vector<double> signed_errors;
  for (const ScoredRow* row : rows)
    if (!only_large || row->large) signed_errors.push_back(relative(row->*residual));
  return statistics_of(std::move(signed_errors));
}

constexpr double kShareStep = 0.005, kMostShare = 0.98;

/// Student's t over the normal distribution, both at 95 %: what a further draw needs of a spread that so many
/// tell of.
double of_few_witnesses(std::size_t machines) {
  constexpr double kStudent[] = {6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83};  // 1 to 9 degrees
  if (machines < 2) return 1;
  const double n = static_cast<double>(machines);
  const double quantile = machines - 2 < std::size(kStudent) ? kStudent[machines - 2] : kReach;
  return quantile / kReach * std::sqrt(1 + 1 / n);
}

/// What an unseen machine needs: each machine counts alike, however many rows it has, since the next one is
/// another machine and not another row. Where not even the largest share is enough, machines are a sample of
/// few.
double spread_for_machines(const Rows& rows, double share) {
  std::map<std::string, int> rows_of;
  for (const ScoredRow* row : rows) ++rows_of[row->key];
  std::vector<WeightedNeed> needs;
  for (const ScoredRow* row : rows) needs.push_back({row->needed_unseen, 1.0 / rows_of[row->key]});
  const double few = share < kMostShare ? 1 : of_few_witnesses(rows_of.size());
  return few * weighted_spread(std::move(needs), share);
}

/// The spread that the rows of others say of a row, when `share` of theirs is to be held; of kinds in
/// `shares` another share.
class OthersSpreads {
 public:
  OthersSpreads(const std::vector<ScoredRow>& rows, double share, std::map<std::string, double> shares = {})
      : share_(share), shares_(std::move(shares)) {
    for (const ScoredRow& row : rows)
      for (const std::string& kind : row.evidence) by_evidence_[kind].push_back(&row);
  }

  double of(const ScoredRow& row) {
    const auto [known, is_new] = known_.try_emplace({row.evidence.front(), row.key}, 0.0);
    if (!is_new) return known->second;
    Rows others;
    for (const ScoredRow* other : by_evidence_[row.evidence.front()])
      if (other->key != row.key) others.push_back(other);
    const auto own = shares_.find(row.evidence.front());
    return known->second = spread_for_machines(others, own == shares_.end() ? share_ : own->second);
  }
  bool holds(const ScoredRow& row) { return row.needed_unseen <= of(row); }

 private:
  double share_;
  std::map<std::string, double> shares_;
  std::map<std::string, Rows> by_evidence_;
  std::map<std::pair<std::string, std::string>, double> known_;
};

LeftOutScores scores_of(const Rows& rows, OthersSpreads& spreads) {
  LeftOutScores s;
  s.rows = static_cast<int>(rows.size());
  s.large_rows = static_cast<int>(std::ranges::count_if(rows, [](const ScoredRow* r) { return r->large; }));
  s.in_use = errors(rows, &ScoredRow::in_use, false);
  s.of_all = errors(rows, &ScoredRow::of_all, false);
  s.left_out = errors(rows, &ScoredRow::left_out, false);
  s.large_in_use = errors(rows, &ScoredRow::in_use, true);
  s.large_left_out = errors(rows, &ScoredRow::left_out, true);
  std::vector<double> linear;
  for (const ScoredRow* row : rows)
    if (row->linear) linear.push_back(relative(*row->linear));
  s.linear = statistics_of(std::move(linear));
  std::vector<double> widths;
  int held = 0;
  for (const ScoredRow* row : rows) {
    held += spreads.holds(*row) ? 1 : 0;
    widths.push_back(spreads.of(*row));
  }
  s.coverage = rows.empty() ? 0 : held / static_cast<double>(rows.size());
  s.width = statistics_of(std::move(widths)).median;
  return s;
}

/// `names_of_row`: of the groups that a row is in.
template <class Names>
std::vector<LeftOutGroup> groups_by(const std::vector<ScoredRow>& rows, const Names& names_of_row,
                                    OthersSpreads& spreads) {
  std::map<std::string, Rows> groups;
  for (const ScoredRow& row : rows)
    for (const std::string& name : names_of_row(row)) groups[name].push_back(&row);
  std::vector<LeftOutGroup> out;
  for (const auto& [name, members] : groups) out.push_back({name, scores_of(members, spreads)});
  std::ranges::stable_sort(out, std::ranges::greater{},
                           [](const LeftOutGroup& g) { return g.scores.left_out.median; });
  return out;
}

}  // namespace

double spread_for(std::vector<double> needed, double share) {
  if (needed.empty()) return 0;
  const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(needed.size()))) - 1;
  std::ranges::nth_element(needed, needed.begin() + static_cast<std::ptrdiff_t>(place));
  return needed[place];
}

double weighted_spread(std::vector<WeightedNeed> needs, double share) {
  std::ranges::sort(needs, {}, &WeightedNeed::needed);
  double all = 0, held = 0;
  for (const WeightedNeed& need : needs) all += need.weight;
  for (const WeightedNeed& need : needs) {
    held += need.weight;
    if (held >= share * all * (1 - 1e-12)) return need.needed;
  }
  return 0;
}

namespace {

/// Of a kind's rows, what the spreads of other machines hold at a share.
double held_of_kind(const std::vector<ScoredRow>& rows, const std::string& kind, double share) {
  OthersSpreads spreads(rows, share);
  int all = 0, held = 0;
  for (const ScoredRow& row : rows) {
    if (row.evidence.front() != kind) continue;
    ++all, held += spreads.holds(row) ? 1 : 0;
  }
  return all == 0 ? 1 : held / static_cast<double>(all);
}

}  // namespace

std::map<std::string, double> shares_of_wide_kinds(const std::vector<ScoredRow>& rows, double share) {
  constexpr double kLeastHeld = 0.8;
  std::map<std::string, int> rows_of;
  for (const ScoredRow& row : rows) ++rows_of[row.evidence.front()];
  std::map<std::string, double> shares;
  for (const auto& [kind, count] : rows_of) {
    double own = share;
    while (count >= kFewestRows && own < kMostShare && held_of_kind(rows, kind, own) < kLeastHeld)
      own += kShareStep;
    if (own > share) shares[kind] = std::min(own, kMostShare);
  }
  return shares;
}

double share_for_unseen(const std::vector<ScoredRow>& rows, double most) {
  for (double share = most; share < kMostShare; share += kShareStep) {
    OthersSpreads spreads(rows, share);
    const auto held = std::ranges::count_if(rows, [&](const ScoredRow& row) { return spreads.holds(row); });
    if (static_cast<double>(held) >= most * static_cast<double>(rows.size())) return share;
  }
  return kMostShare;
}

void drop_rare_kinds(std::vector<ScoredRow>& rows) {
  for (bool any_rare = true; any_rare;) {
    any_rare = false;
    const std::map<std::string, KnownTo> spreads = spreads_by_evidence(rows);
    for (ScoredRow& row : rows) {
      const KnownTo& known = spreads.at(row.evidence.front());
      const bool is_rare = known.rows < kFewestRows || known.machines < kFewestMachines;
      if (row.evidence.size() == 1 || !is_rare) continue;
      row.evidence.erase(row.evidence.begin()), any_rare = true;
    }
  }
}

void add_scores(const std::vector<ScoredRow>& rows, LeaveOneOut& out) {
  out.share = share_for_unseen(rows);
  OthersSpreads spreads(rows, out.share, shares_of_wide_kinds(rows, out.share));
  Rows all;
  for (const ScoredRow& row : rows) all.push_back(&row);
  out.all = scores_of(all, spreads);
  using Names = std::vector<std::string>;
  out.groups = groups_by(
      rows, [](const ScoredRow& row) { return Names{row.key}; }, spreads);
  out.views = groups_by(
      rows, [](const ScoredRow& row) { return row.views; }, spreads);
  out.classes = groups_by(
      rows, [](const ScoredRow& row) { return Names{row.evidence.front()}; }, spreads);
}

std::map<std::string, KnownTo> spreads_by_evidence(const std::vector<ScoredRow>& rows, double most) {
  struct Needed {
    std::vector<double> seen;
    Rows unseen;
    std::set<std::string> machines;
  };
  std::map<std::string, Needed> needed;
  for (const ScoredRow& row : rows) {
    for (const std::string& kind : row.evidence) {
      Needed& n = needed[kind];
      n.seen.push_back(row.needed_seen), n.unseen.push_back(&row), n.machines.insert(row.key);
    }
  }
  const double share = share_for_unseen(rows, most);
  const std::map<std::string, double> shares = shares_of_wide_kinds(rows, share);
  std::map<std::string, KnownTo> out;
  for (auto& [evidence, n] : needed) {
    const auto count = static_cast<int>(n.seen.size());
    const double seen = spread_for(std::move(n.seen), most);
    const auto own = shares.find(evidence);
    const double unseen = spread_for_machines(n.unseen, own == shares.end() ? share : own->second);
    out[evidence] = {seen, std::max(seen, unseen), count, static_cast<int>(n.machines.size())};
  }
  return out;
}

}  // namespace foretrain

// Colour refinement. Every node of the bipartite graph has a colour of 64 bits. In each round the colour
// becomes a hash of the old colour and of the sum of its neighbours' colours. The sum is commutative, so the
// order of the neighbours does not matter. When a round makes no more colours than there were, the partition
// is stable.
//
// A colour only ever splits into more colours. Hash collisions could hide a split, so Check compares the
// classes of all neighbours of all members at the end.
#include "sim/engine/equitable_classes.hpp"

#include <algorithm>
#include <bit>

namespace foretrain {

namespace {

/// Rounds after which the search is given up.
constexpr int kMostRounds = 32;

/// Returns a well-mixed hash of 64 bits: the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Numbers colours in the order in which they first occur, and returns how many there are. It uses a hash
/// table with open addressing that is at most half full.
std::uint32_t number(const std::vector<std::uint64_t>& colours, std::vector<std::uint32_t>& numbers) {
  const std::size_t mask = std::bit_ceil(2 * colours.size() + 1) - 1;
  constexpr std::uint32_t kFree = ~0u;
  std::vector<std::uint32_t> first_of(mask + 1, kFree);
  numbers.resize(colours.size());
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < colours.size(); ++i) {
    std::size_t place = mix(colours[i]) & mask;
    while (first_of[place] != kFree && colours[first_of[place]] != colours[i]) place = (place + 1) & mask;
    if (first_of[place] == kFree) {
      first_of[place] = i;
      numbers[i] = count++;
    } else {
      numbers[i] = numbers[first_of[place]];
    }
  }
  return count;
}

/// The refinement of one graph: colours of flows and links, recoloured until their number stays the same.
class Refinement {
 public:
  explicit Refinement(const Incidence& incidence)
      : in_(incidence), flow_(incidence.flow_kind), link_(incidence.link_kind) {}

  /// Returns the stable partition, or nothing when kMostRounds rounds do not reach it.
  std::optional<EquitableClasses> run() {
    std::uint32_t before = count();
    for (int round = 0; round < kMostRounds; ++round) {
      recolour();
      const std::uint32_t now = count();
      if (now == before) return classes_;
      before = now;
    }
    return std::nullopt;
  }

 private:
  /// Numbers the present colours as classes_ and returns the number of classes.
  std::uint32_t count() {
    classes_.flows = number(flow_, classes_.of_flow);
    classes_.links = number(link_, classes_.of_link);
    return classes_.flows + classes_.links;
  }

  /// Runs one round: links take the sum over their flows, then flows take the sum over their new links.
  void recolour() {
    sums_.assign(link_.size(), 0);
    for (std::size_t f = 0; f < flow_.size(); ++f) {
      const std::uint64_t colour = mix(flow_[f]);
      for (const std::uint32_t link : in_.route(f)) sums_[link] += colour;
    }
    for (std::size_t l = 0; l < link_.size(); ++l) link_[l] = mix(link_[l] ^ mix(sums_[l]));
    for (std::size_t f = 0; f < flow_.size(); ++f) {
      std::uint64_t sum = 0;
      for (const std::uint32_t link : in_.route(f)) sum += mix(link_[link]);
      flow_[f] = mix(flow_[f] ^ mix(sum));
    }
  }

  const Incidence& in_;
  std::vector<std::uint64_t> flow_, link_, sums_;
  EquitableClasses classes_;
};

/// Verifies that all members of a class have the same kind and the same multiset of neighbours' classes. The
/// first member of a class sets what the others must have.
class Check {
 public:
  explicit Check(std::uint32_t classes) : rows_(classes), kinds_(classes), seen_(classes) {}

  /// Returns whether the member agrees with the first one of its class. Sorts `row`, the classes of its
  /// neighbours.
  bool holds(std::uint32_t its_class, std::uint64_t kind, std::vector<std::uint32_t>& row) {
    std::ranges::sort(row);
    if (seen_[its_class]) return kinds_[its_class] == kind && rows_[its_class] == row;
    seen_[its_class] = true;
    kinds_[its_class] = kind;
    rows_[its_class] = row;
    return true;
  }

 private:
  std::vector<std::vector<std::uint32_t>> rows_;
  std::vector<std::uint64_t> kinds_;
  std::vector<bool> seen_;
};

/// Returns whether all flows of each class cross the same classes of links.
bool flows_are_alike(const Incidence& in, const EquitableClasses& classes) {
  Check check(classes.flows);
  std::vector<std::uint32_t> row;
  for (std::size_t f = 0; f < in.flow_kind.size(); ++f) {
    row.clear();
    for (const std::uint32_t link : in.route(f)) row.push_back(classes.of_link[link]);
    if (!check.holds(classes.of_flow[f], in.flow_kind[f], row)) return false;
  }
  return true;
}

/// Returns whether all links of each class carry the same classes of flows.
bool links_are_alike(const Incidence& in, const EquitableClasses& classes) {
  // Inverts the routes: users[first[l] .. first[l + 1]) are the classes of the flows that cross link l.
  std::vector<std::uint32_t> first(in.link_kind.size() + 1), users(in.links.size());
  for (const std::uint32_t link : in.links) ++first[link + 1];
  for (std::size_t l = 1; l < first.size(); ++l) first[l] += first[l - 1];
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::size_t f = 0; f < in.flow_kind.size(); ++f) {
    for (const std::uint32_t link : in.route(f)) users[next[link]++] = classes.of_flow[f];
  }
  Check check(classes.links);
  std::vector<std::uint32_t> row;
  for (std::size_t l = 0; l < in.link_kind.size(); ++l) {
    row.assign(users.begin() + first[l], users.begin() + first[l + 1]);
    if (!check.holds(classes.of_link[l], in.link_kind[l], row)) return false;
  }
  return true;
}

}  // namespace

std::optional<EquitableClasses> equitable_classes(const Incidence& incidence) {
  std::optional<EquitableClasses> classes = Refinement(incidence).run();
  if (!classes || !flows_are_alike(incidence, *classes) || !links_are_alike(incidence, *classes))
    return std::nullopt;
  return classes;
}

}  // namespace foretrain

// Folds flows that cannot be told apart into one flow with a multiplicity.
//
// Folding is the reason why a collective on 1,000 nodes costs little more than on two. Links that only one
// flow crosses are removed first: they only limit the rate of that flow. The flows and links that are left
// form a bipartite graph. equitable_classes.hpp divides it into the coarsest classes in which all members see
// the same number of members of every other class (colour refinement, as in the test for isomorphism of
// graphs). Each class of flows becomes one flow. fold.hpp has the proof that max-min rates are equal within
// such classes.
#include "sim/engine/fold.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "sim/engine/equitable_classes.hpp"
#include "sim/engine/link_numbers.hpp"

namespace foretrain {

/// Builds FoldedPatterns from a graph. Links are renumbered densely in the order of first use.
class PatternFolder {
 public:
  PatternFolder(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of,
                FoldedPatterns& out);
  /// Enters every flow on its own, without folding.
  void copy();
  /// Enters one flow per class. Returns false, and enters nothing, when no partition is found.
  bool fold();
  /// LinkIds by the numbers that routes use.
  const std::vector<LinkId>& links() const { return numbers_.links(); }
  std::vector<ByteRate>& capacities() { return capacities_; }

 private:
  /// A flow of a pattern in use with a positive weight. Its links, by number, are routes_[first_link ..
  /// end_link).
  struct Member {
    PatternId pattern;
    double weight;
    std::uint32_t first_link, end_link;
  };
  std::span<const std::uint32_t> route(const Member& member) const {
    return std::span(routes_).subspan(member.first_link, member.end_link - member.first_link);
  }
  /// The classes of flows that cross a link, each with the number of its flows; ascending by class.
  using Row = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  void find_lone_links();
  void build_incidence();
  std::uint64_t kind_of(std::size_t flow);
  std::vector<Row> rows_of_links(const EquitableClasses& classes) const;
  std::vector<std::vector<LinkShare>> routes_of_classes(const EquitableClasses& classes) const;
  void add(PatternId pattern, const FoldedPatterns::Flow& flow, std::span<const LinkShare> route);
  void close();

  static constexpr LinkId kNoLink = kNone;
  LinkNumbers numbers_;
  /// Capacity of each link by number. All members below use these numbers too.
  std::vector<ByteRate> capacities_;
  FoldedPatterns& out_;
  std::size_t patterns_;
  std::vector<std::uint32_t> routes_;
  std::vector<Member> members_;
  /// Per link: how often flows cross it.
  std::vector<std::uint32_t> crossings_;
  /// Per flow: the narrowest link that it has for itself, or kNoLink.
  std::vector<LinkId> lone_link_;
  /// Links that several flows cross, in the order of their indices in incidence_.
  std::vector<LinkId> shared_links_;
  Incidence incidence_;
  /// Number of each distinct kind of flow: pattern, weight and own limit in bytes per second.
  std::map<std::tuple<PatternId, double, double>, std::uint64_t> kinds_;
};

PatternFolder::PatternFolder(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of,
                             FoldedPatterns& out)
    : out_(out), patterns_(graph.pattern_count()) {
  // Patterns that no task uses, and flows without bytes, are not simulated at all.
  std::vector<bool> used(patterns_);
  for (const Task& task : graph.tasks()) {
    if (task.pattern != kNone) used[task.pattern] = true;
  }
  for (PatternId pattern = 0; pattern < patterns_; ++pattern) {
    if (!used[pattern]) continue;
    for (const PatternFlow& flow : graph.pattern(pattern)) {
      if (flow.weight <= 0) continue;
      const auto first = static_cast<std::uint32_t>(routes_.size());
      for (const LinkId link : flow.route) routes_.push_back(numbers_.of(link));
      members_.push_back({pattern, flow.weight, first, static_cast<std::uint32_t>(routes_.size())});
    }
  }
  for (const LinkId link : numbers_.links()) capacities_.push_back(capacity_of(link));
}

/// Appends a flow of the pattern to the result. Requires that flows come in ascending order of patterns.
void PatternFolder::add(PatternId pattern, const FoldedPatterns::Flow& flow,
                        std::span<const LinkShare> route) {
  out_.first_flow_.resize(pattern + 1, static_cast<std::uint32_t>(out_.flows_.size()));
  out_.flows_.push_back(flow);
  out_.flows_.back().first_share = static_cast<std::uint32_t>(out_.shares_.size());
  out_.shares_.insert(out_.shares_.end(), route.begin(), route.end());
  out_.flows_.back().end_share = static_cast<std::uint32_t>(out_.shares_.size());
}

/// Completes first_flow_ for patterns without flows at the end.
void PatternFolder::close() {
  out_.first_flow_.resize(patterns_ + 1, static_cast<std::uint32_t>(out_.flows_.size()));
}

void PatternFolder::copy() {
  std::vector<LinkShare> route;
  for (const Member& member : members_) {
    route.clear();
    for (const std::uint32_t link : this->route(member)) route.push_back({link, 1});
    add(member.pattern, {.weight = member.weight}, route);
  }
  close();
}

/// Finds the links that one flow alone crosses, and the narrowest of them for each flow.
void PatternFolder::find_lone_links() {
  crossings_.assign(capacities_.size(), 0);
  for (const Member& member : members_) {
    for (const std::uint32_t link : route(member)) ++crossings_[link];
  }
  lone_link_.assign(members_.size(), kNoLink);
  for (std::size_t f = 0; f < members_.size(); ++f) {
    for (const std::uint32_t link : route(members_[f])) {
      LinkId& lone = lone_link_[f];
      if (crossings_[link] == 1 && (lone == kNoLink || capacities_[link] < capacities_[lone])) lone = link;
    }
  }
}

/// Returns the number of the flow's kind. Flows with different limits of their own links are of different
/// kinds.
std::uint64_t PatternFolder::kind_of(std::size_t f) {
  const LinkId lone = lone_link_[f];
  const double limit =
      lone == kNoLink ? std::numeric_limits<double>::infinity() : capacities_[lone].per_second;
  return kinds_.try_emplace({members_[f].pattern, members_[f].weight, limit}, kinds_.size()).first->second;
}

/// Builds the bipartite graph of flows and of the links that several flows cross.
void PatternFolder::build_incidence() {
  std::vector<std::uint32_t> number_of(capacities_.size(), kNone);
  for (std::size_t f = 0; f < members_.size(); ++f) {
    for (const std::uint32_t link : route(members_[f])) {
      if (crossings_[link] == 1) continue;
      if (number_of[link] == kNone) {
        number_of[link] = static_cast<std::uint32_t>(shared_links_.size());
        shared_links_.push_back(link);
        incidence_.link_kind.push_back(std::bit_cast<std::uint64_t>(capacities_[link].per_second));
      }
      incidence_.links.push_back(number_of[link]);
    }
    incidence_.first_link.push_back(static_cast<std::uint32_t>(incidence_.links.size()));
    incidence_.flow_kind.push_back(kind_of(f));
  }
}

/// Returns for each class of links what its first link carries. All links of a class carry the same.
std::vector<PatternFolder::Row> PatternFolder::rows_of_links(const EquitableClasses& classes) const {
  std::vector<std::uint32_t> first(classes.links, kNone);
  for (std::uint32_t link = 0; link < shared_links_.size(); ++link) {
    std::uint32_t& its_first = first[classes.of_link[link]];
    its_first = std::min(its_first, link);
  }
  // Pairs of a class of links and a class of flows, one for each crossing.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> crossings;
  for (std::size_t f = 0; f < members_.size(); ++f) {
    for (const std::uint32_t link : incidence_.route(f)) {
      if (first[classes.of_link[link]] == link)
        crossings.emplace_back(classes.of_link[link], classes.of_flow[f]);
    }
  }
  std::ranges::sort(crossings);
  std::vector<Row> rows(classes.links);
  for (const auto& [link_class, flow_class] : crossings) {
    Row& row = rows[link_class];
    if (row.empty() || row.back().first != flow_class) row.emplace_back(flow_class, 0);
    ++row.back().second;
  }
  return rows;
}

/// Returns the route of each class of flows. Of the classes of links with equal rows only the narrowest is
/// kept.
std::vector<std::vector<LinkShare>> PatternFolder::routes_of_classes(const EquitableClasses& classes) const {
  const std::vector<Row> rows = rows_of_links(classes);
  std::vector<LinkId> link_of(classes.links, kNoLink);
  // Runs backward, so that the first link of each class remains.
  for (std::size_t link = shared_links_.size(); link > 0; --link)
    link_of[classes.of_link[link - 1]] = shared_links_[link - 1];
  std::map<Row, LinkId> narrowest;
  for (std::uint32_t link_class = 0; link_class < classes.links; ++link_class) {
    const auto [known, is_new] = narrowest.try_emplace(rows[link_class], link_of[link_class]);
    if (!is_new && capacities_[link_of[link_class]] < capacities_[known->second])
      known->second = link_of[link_class];
  }
  std::vector<std::vector<LinkShare>> routes(classes.flows);
  for (const auto& [row, link] : narrowest) {
    for (const auto& [flow_class, shares] : row) routes[flow_class].push_back({link, shares});
  }
  return routes;
}

bool PatternFolder::fold() {
  find_lone_links();
  build_incidence();
  const std::optional<EquitableClasses> classes = equitable_classes(incidence_);
  if (!classes) return false;
  std::vector<std::vector<LinkShare>> routes = routes_of_classes(*classes);
  std::vector<std::uint32_t> members(classes->flows);
  for (const std::uint32_t its_class : classes->of_flow) ++members[its_class];
  std::uint32_t next = 0;
  // Classes are numbered by their first members, so the next class begins where its number first occurs.
  for (std::size_t f = 0; f < members_.size(); ++f) {
    if (classes->of_flow[f] != next) continue;
    std::vector<LinkShare>& route = routes[next];
    if (lone_link_[f] != kNoLink) route.push_back({lone_link_[f], 1});
    add(members_[f].pattern, {.weight = members_[f].weight, .members = members[next]}, route);
    ++next;
  }
  close();
  return true;
}

FoldedPatterns::FoldedPatterns(const TaskGraph& graph, std::span<const ByteRate> capacities,
                               Folding folding) {
  PatternFolder folder(
      graph, [capacities](LinkId link) { return capacities[link]; }, *this);
  if (folding == Folding::off || !folder.fold()) folder.copy();
  for (LinkShare& share : shares_) share.link = folder.links()[share.link];
}

FoldedPatterns::FoldedPatterns(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of) {
  PatternFolder folder(graph, capacity_of, *this);
  if (!folder.fold()) folder.copy();
  capacities_ = std::move(folder.capacities());
}

std::span<const FoldedPatterns::Flow> FoldedPatterns::flows(PatternId pattern) const {
  return std::span(flows_).subspan(first_flow_[pattern], first_flow_[pattern + 1] - first_flow_[pattern]);
}

std::span<const LinkShare> FoldedPatterns::route(const Flow& flow) const {
  return std::span(shares_).subspan(flow.first_share, flow.end_share - flow.first_share);
}

}  // namespace foretrain

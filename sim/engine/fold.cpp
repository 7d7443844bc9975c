// Lone links first: they only set a limit to their flow. What is left goes to the search for classes, and the
// classes become flows.
//
// Folding replaces flows that cannot be told apart by one flow with a multiplicity. It is the reason why a
// collective on 1,000 nodes costs little more than on two. Links that one flow alone crosses are taken out
// first: they only limit the rate of their flow. The flows and links that are left form a bipartite graph,
// and equitable_classes.hpp divides it into the coarsest classes in which all members see the same number of
// members of every other class (colour refinement, as in the test for isomorphism of graphs). fold.hpp has
// the proof that max-min rates are equal within such classes.
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

class PatternFolder {
 public:
  PatternFolder(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of,
                FoldedPatterns& out);
  void copy();
  /// False: the flows cannot be told to be alike.
  bool fold();
  /// By the numbers in the routes.
  const std::vector<LinkId>& links() const { return numbers_.links(); }
  std::vector<ByteRate>& capacities() { return capacities_; }

 private:
  /// A flow that is on its way; links by their numbers.
  struct Member {
    PatternId pattern;
    double weight;
    std::uint32_t first_link, end_link;
  };
  std::span<const std::uint32_t> route(const Member& member) const {
    return std::span(routes_).subspan(member.first_link, member.end_link - member.first_link);
  }
  /// How many flows of a class cross a link.
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
  std::vector<ByteRate> capacities_;  ///< by number, as everything below
  FoldedPatterns& out_;
  std::size_t patterns_;
  std::vector<std::uint32_t> routes_;
  std::vector<Member> members_;
  std::vector<std::uint32_t> crossings_;  ///< per link: by all flows
  std::vector<LinkId> lone_link_;         ///< per flow: the narrowest of those it has for itself
  std::vector<LinkId> shared_links_;      ///< by the numbers in incidence_
  Incidence incidence_;
  std::map<std::tuple<PatternId, double, double>, std::uint64_t> kinds_;
};

PatternFolder::PatternFolder(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of,
                             FoldedPatterns& out)
    : out_(out), patterns_(graph.pattern_count()) {
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

/// Flows come by ascending pattern.
void PatternFolder::add(PatternId pattern, const FoldedPatterns::Flow& flow,
                        std::span<const LinkShare> route) {
  out_.first_flow_.resize(pattern + 1, static_cast<std::uint32_t>(out_.flows_.size()));
  out_.flows_.push_back(flow);
  out_.flows_.back().first_share = static_cast<std::uint32_t>(out_.shares_.size());
  out_.shares_.insert(out_.shares_.end(), route.begin(), route.end());
  out_.flows_.back().end_share = static_cast<std::uint32_t>(out_.shares_.size());
}

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

std::uint64_t PatternFolder::kind_of(std::size_t f) {
  const LinkId lone = lone_link_[f];
  const double limit =
      lone == kNoLink ? std::numeric_limits<double>::infinity() : capacities_[lone].per_second;
  return kinds_.try_emplace({members_[f].pattern, members_[f].weight, limit}, kinds_.size()).first->second;
}

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

/// What the first link of each class carries.
std::vector<PatternFolder::Row> PatternFolder::rows_of_links(const EquitableClasses& classes) const {
  std::vector<std::uint32_t> first(classes.links, kNone);
  for (std::uint32_t link = 0; link < shared_links_.size(); ++link) {
    std::uint32_t& its_first = first[classes.of_link[link]];
    its_first = std::min(its_first, link);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> crossings;  // class of link, class of flow
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

/// One link for each distinct row: the narrowest.
std::vector<std::vector<LinkShare>> PatternFolder::routes_of_classes(const EquitableClasses& classes) const {
  const std::vector<Row> rows = rows_of_links(classes);
  std::vector<LinkId> link_of(classes.links, kNoLink);
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

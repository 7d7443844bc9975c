// Classes of flows and links that nothing tells apart: the coarsest equitable partition of the graph of flows
// and links.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace foretrain {

/// A bipartite graph of flows and the links that they cross. Kinds distinguish nodes from the start: the kind
/// of a flow stands for its pattern and weight, the kind of a link for its capacity.
struct Incidence {
  /// Flow f crosses links[first_link[f] .. first_link[f + 1]); it may cross a link twice.
  std::vector<std::uint32_t> first_link{
      0};  ///< flow f crosses links[first_link[f] .. first_link[f + 1]), a link perhaps twice
  std::vector<std::uint32_t> links;
  /// Kind numbers per flow and per link; equal numbers mean equal kinds.
  std::vector<std::uint64_t> flow_kind, link_kind;
  std::span<const std::uint32_t> route(std::size_t flow) const {
    return std::span(links).subspan(first_link[flow], first_link[flow + 1] - first_link[flow]);
  }
};

/// Class of each flow and of each link. Classes are numbered in the order of their first members.
struct EquitableClasses {
  std::vector<std::uint32_t> of_flow, of_link;
  /// Number of classes of flows and of links.
  std::uint32_t flows = 0, links = 0;
};

/// Divides flows and links into classes. Flows of one class have one kind and cross equally many links of
/// each class. Links of one class have one kind and carry equally many flows of each class.
///
/// The algorithm is colour refinement (Weisfeiler & Leman 1968). A round is near-linear in the total length
/// of the routes, and symmetric graphs need few rounds. Returns nothing when 32 rounds do not suffice; then
/// there is little to gain. The result is verified member by member, so it does not depend on hash values: a
/// collision yields no classes.
std::optional<EquitableClasses> equitable_classes(const Incidence& incidence);

}  // namespace foretrain

// Classes of flows and links that nothing tells apart: the coarsest equitable partition of who crosses what.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace foretrain {

/// Flows, links and who crosses what. Kinds tell apart from the start: pattern and weight of a flow, capacity
/// of a link.
struct Incidence {
  std::vector<std::uint32_t> first_link{
      0};  ///< flow f crosses links[first_link[f] .. first_link[f + 1]), a link perhaps twice
  std::vector<std::uint32_t> links;
  std::vector<std::uint64_t> flow_kind, link_kind;
  std::span<const std::uint32_t> route(std::size_t flow) const {
    return std::span(links).subspan(first_link[flow], first_link[flow + 1] - first_link[flow]);
  }
};

/// Class numbers in the order of their first members.
struct EquitableClasses {
  std::vector<std::uint32_t> of_flow, of_link;
  std::uint32_t flows = 0, links = 0;  ///< how many classes
};

/// Flows of one class have one kind and cross equally many links of each class; links of one class have one
/// kind and carry equally many flows of each class. Colour refinement (Weisfeiler & Leman 1968): near-linear
/// in the total length of the routes per round, and few rounds where there is symmetry. Nothing when it is
/// not done after 32 rounds; then there is little to gain. The result is checked member by member, so it does
/// not hang on hash values.
std::optional<EquitableClasses> equitable_classes(const Incidence& incidence);

}  // namespace foretrain

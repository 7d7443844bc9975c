// The table of fabrics. A new kind is a new file and a row here.
#include "sim/cluster/fabrics/catalog.hpp"

#include <array>

#include "sim/cluster/fabrics/dragonfly.hpp"
#include "sim/cluster/fabrics/dragonfly_plus.hpp"
#include "sim/cluster/fabrics/explicit.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/cluster/fabrics/rail_optimized.hpp"
#include "sim/cluster/fabrics/torus.hpp"

namespace foretrain {

std::span<const Fabric> fabrics() {
  static const std::array<Fabric, 8> kRows{
      no_fabric(),        star_fabric(),           fat_tree_fabric(), rail_optimized_fabric(),
      dragonfly_fabric(), dragonfly_plus_fabric(), torus_fabric(),    explicit_fabric()};
  return kRows;
}

const Fabric* find_fabric(std::string_view name) {
  const std::string_view wanted = name.empty() ? "none" : name;
  for (const Fabric& row : fabrics()) {
    if (row.name == wanted) return &row;
  }
  return nullptr;
}

std::vector<LinkType*> link_types_of(FabricSpec& spec) {
  std::vector<LinkType*> types{&spec.link, &spec.uplink};
  const Fabric* kind = find_fabric(spec.kind);
  if (kind == nullptr || kind->own_links == nullptr) return types;
  for (LinkType* type : kind->own_links(spec)) types.push_back(type);
  return types;
}

}  // namespace foretrain

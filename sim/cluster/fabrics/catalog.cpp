// The table of fabrics; a new one is a new file and its row here.
#include "sim/cluster/fabrics/catalog.hpp"

#include <array>

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

}  // namespace foretrain

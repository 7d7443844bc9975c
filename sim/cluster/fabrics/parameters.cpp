// Products of user-given counts are computed in floating point or 64 bits, so that they cannot overflow.
#include "sim/cluster/fabrics/parameters.hpp"

#include <fmt/format.h>

#include "sim/base/counted.hpp"

namespace foretrain {

namespace {

std::string with_article(std::string_view fabric) {
  return fmt::format("{} {}", fabric.front() == 'e' ? "an" : "a", fabric);
}

}  // namespace

void require_parameter(std::vector<ClusterFault>& faults, std::string_view fabric, std::string_view key,
                       int value, std::string hint) {
  if (value < 1) faults.push_back({fmt::format("{} needs {}", with_article(fabric), key), std::move(hint)});
}

void require_capacity(std::vector<ClusterFault>& faults, std::string_view fabric, std::int64_t places,
                      int nodes, std::string hint) {
  if (places < nodes)
    faults.push_back({fmt::format("{} of this size holds {}, not {}", with_article(fabric),
                                  counted(places, "node"), nodes),
                      std::move(hint)});
}

void require_few_links(std::vector<ClusterFault>& faults, std::string_view fabric, double connections,
                       std::string hint) {
  if (2 * connections > kMostFabricLinks)
    faults.push_back({fmt::format("the {} has too many links between switches", fabric), std::move(hint)});
}

}  // namespace foretrain

// The tables, as published in NCCL's source.
#include "sim/collective/protocol.hpp"

#include <algorithm>

namespace foretrain {

std::string_view name_of(Protocol protocol) {
  static constexpr std::array<std::string_view, 3> kNames{"LL", "LL128", "Simple"};
  return kNames[static_cast<std::size_t>(protocol)];
}

ProtocolCost cost_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll: return {microseconds(6.6), microseconds(0.6), microseconds(1.0), microseconds(2.7), 0.5};
    case Protocol::ll128: return {microseconds(14), microseconds(1.9), microseconds(2.5), microseconds(4.0), 0.92};
    case Protocol::simple: break;
  }
  return {microseconds(8.4), microseconds(3.4), microseconds(5.7), microseconds(14), 1.0};
}

ByteRate ll_cap(Architecture architecture, int nodes) {
  struct Row {
    Architecture since;
    std::array<double, 3> gigabytes;  ///< one node, two, more
  };
  static constexpr std::array<Row, 4> kRows{{{Architecture::blackwell, {282, 90, 70}}, {Architecture::hopper, {141, 45, 35}}, {Architecture::ampere, {87.7, 22.5, 19}}, {Architecture::kepler, {39, 39, 20.4}}}};
  const Row& row = *std::find_if(kRows.begin(), kRows.end(), [=](const Row& r) { return architecture >= r.since; });
  return {row.gigabytes[static_cast<std::size_t>(std::clamp(nodes, 1, 3) - 1)] * 1e9};
}

}  // namespace foretrain

// Bandwidths of links by version.
#include "sim/collective/nccl/link_bandwidth.hpp"

#include <algorithm>
#include <array>

#include "sim/collective/nccl/era.hpp"

namespace foretrain::nccl {

namespace {

/// Bandwidths in GB/s of one NVLink by generation, since a version.
struct NvlinkEra {
  Version since;
  double pascal, volta, ampere, geforce, hopper, blackwell;
};

/// A generation that a version did not know takes the value of the newest one that it knew.
constexpr std::array<NvlinkEra, 7> kNvlink{{
    {{2, 5, 0}, 18, 21, 21, 21, 21, 21},
    {{2, 8, 0}, 18, 21, 21, 12, 21, 21},
    {{2, 10, 0}, 18, 22, 22, 12, 22, 22},
    {{2, 18, 0}, 18, 20, 20, 12, 20, 20},
    {{2, 20, 0}, 18, 20, 20, 12, 20.6, 20.6},
    {{2, 25, 0}, 18, 20, 20, 12, 20.6, 40.0},
    {{2, 27, 0}, 18, 20, 20, 12, 20.6, 40.1},
}};

/// Bandwidths in GB/s between sockets by family of CPU, since a version.
struct SocketEra {
  Version since;
  double broadwell, skylake, sapphire_rapids, emerald_rapids, amd;
};

/// NCCL's figure for a link that never limits.
constexpr double kUnlimited = 5000;
constexpr std::array<SocketEra, 6> kSocket{{
    {{2, 5, 0}, 8, 12, 12, 12, kUnlimited},
    {{2, 7, 0}, 8, 9, 9, 9, kUnlimited},
    {{2, 8, 0}, 6, 9, 9, 9, kUnlimited},
    {{2, 18, 0}, 6, 10, 10, 10, kUnlimited},
    {{2, 19, 0}, 6, 10, 10, 10, 16},
    {{2, 27, 0}, 6, 10, 22, 40, 16},
}};
constexpr double kPower9 = 32, kArm = 6;

double by_family(const SocketEra& era, HostFamily family) {
  switch (family) {
    case HostFamily::intel_broadwell:
      return era.broadwell;
    case HostFamily::intel_skylake:
      return era.skylake;
    case HostFamily::intel_sapphire_rapids:
      return era.sapphire_rapids;
    case HostFamily::intel_emerald_rapids:
      return era.emerald_rapids;
    case HostFamily::amd:
      return era.amd;
    case HostFamily::power9:
      return kPower9;
    case HostFamily::arm:
      return kArm;
  }
  return era.skylake;
}

}  // namespace

Milli nvlink_bandwidth(const Version& version, int compute_capability) {
  const NvlinkEra& era = row_in_force<NvlinkEra>(kNvlink, version);
  const auto figure = [&] {
    if (compute_capability >= 100) return era.blackwell;
    if (compute_capability >= 90) return era.hopper;
    if (compute_capability == 86) return era.geforce;
    if (compute_capability >= 80) return era.ampere;
    return compute_capability >= 70 ? era.volta : era.pascal;
  };
  return to_milli(figure());
}

Milli nvlink_bandwidth(const LinkType& type, const Version& version, int compute_capability) {
  return type.nccl_bandwidth.per_second > 0 ? link_bandwidth(type)
                                            : nvlink_bandwidth(version, compute_capability);
}

Milli socket_bandwidth(const Version& version, HostFamily family) {
  return to_milli(by_family(row_in_force<SocketEra>(kSocket, version), family));
}

Milli link_bandwidth(const LinkType& type) {
  const double rate =
      type.nccl_bandwidth.per_second > 0 ? type.nccl_bandwidth.per_second : type.bandwidth.per_second;
  return to_milli(std::min(rate * 1e-9, to_gbps(kLocal)));
}

bool is_intel(HostFamily family) { return family <= HostFamily::intel_emerald_rapids; }

}  // namespace foretrain::nccl

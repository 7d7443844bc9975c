// The speeds that the search tries, in thousandths of a GB/s. Names state the version from which a list
// holds.
#include <array>

#include "sim/collective/nccl/era.hpp"
#include "sim/collective/nccl/graph_search.hpp"

namespace foretrain::nccl {

namespace {

using List = std::span<const Milli>;

constexpr Milli kBoth27[]{42000, 24000, 21000, 18000, 15000, 12000, 10000, 9000, 7000,
                          6000,  5000,  4000,  3000,  2400,  1200,  240,   120};
constexpr Milli kBoth28[]{42000, 30000, 24000, 21000, 18000, 15000, 12000, 10000, 9000,
                          7000,  6000,  5000,  4000,  3000,  2400,  1200,  240,   120};
constexpr Milli kIntra210[]{44000, 30000, 22000, 18000, 15000, 12000, 10000,
                            9000,  7000,  6000,  5000,  4000,  3000};
constexpr Milli kInter210[]{48000, 30000, 24000, 22000, 18000, 15000, 12000, 10000, 9000,
                            7000,  6000,  5000,  4000,  3000,  2400,  1200,  240,   120};
constexpr Milli kInter215[]{48000, 28000, 24000, 22000, 18000, 15000, 12000, 10000, 9000,
                            7000,  6000,  5000,  4000,  3000,  2400,  1200,  240,   120};
constexpr Milli kIntra218[]{40000, 30000, 20000, 18000, 15000, 12000, 10000,
                            9000,  7000,  6000,  5000,  4000,  3000};
constexpr Milli kInter218[]{48000, 30000, 28000, 24000, 20000, 18000, 15000, 12000, 10000, 9000,
                            7000,  6000,  5000,  4000,  3000,  2400,  1200,  240,   120};

constexpr Milli kHopperIntra216[]{66000, 33000, 24000, 20000, 15000, 12000, 6000, 3000};
constexpr Milli kHopperInter216[]{48000, 45000, 30000, 24000, 15000, 12000, 6000, 3000, 2400, 1200, 240, 120};
constexpr Milli kHopperIntra218[]{60000, 40000, 30000, 24000, 20000, 15000, 12000, 6000, 3000};
constexpr Milli kHopperInter2181[]{48000, 45000, 42000, 40000, 30000, 24000, 15000,
                                   12000, 6000,  3000,  2400,  1200,  240,   120};
constexpr Milli kHopperInter2186[]{48000, 45000, 42000, 40000, 30000, 24000, 20000, 17500,
                                   15000, 12000, 6000,  3000,  2400,  1200,  240,   120};
constexpr Milli kHopperIntra219[]{60000, 50000, 40000, 30000, 24000, 20000, 15000, 12000, 6000, 3000};
constexpr Milli kHopperInter219[]{48000, 45000, 42000, 40000, 30000, 24000, 22000, 20000, 17500,
                                  15000, 12000, 6000,  3000,  2400,  1200,  240,   120};
constexpr Milli kHopperIntra221[]{60000, 50000, 40000, 30000, 24000, 20000, 15000, 12000, 11000, 6000, 3000};

constexpr Milli kBlackwellIntra225[]{90000, 80000, 70000, 60000, 50000, 40000, 30000, 24000, 20000, 19000};
constexpr Milli kBlackwellIntra227[]{90000, 80000, 70000, 60000, 50000, 40000,
                                     30000, 24000, 20000, 19000, 18000};
constexpr Milli kBlackwellIntra230[]{90000, 80000, 70000, 60000, 50000, 45000,
                                     40000, 30000, 24000, 20000, 19000, 18000};
constexpr Milli kBlackwellInter227[]{96000, 48000, 45100, 42000, 40000, 30000, 24000, 22000, 20000,
                                     17500, 15000, 12000, 6000,  3000,  2400,  1200,  240,   120};
constexpr Milli kBlackwellInter230[]{96000, 86000, 80000, 48000, 45100, 42000, 40000, 30000, 24000, 22000,
                                     20000, 17500, 15000, 12000, 6000,  3000,  2400,  1200,  240,   120};

/// The lists for one node (intra) and for several nodes (inter), since a version.
struct SpeedEra {
  Version since;
  List intra, inter;
};

constexpr std::array<SpeedEra, 5> kUpToAmpere{{
    {{2, 5, 0}, kBoth27, kBoth27},
    {{2, 8, 0}, kBoth28, kBoth28},
    {{2, 10, 0}, kIntra210, kInter210},
    {{2, 15, 0}, kIntra210, kInter215},
    {{2, 18, 0}, kIntra218, kInter218},
}};
constexpr std::array<SpeedEra, 5> kHopper{{
    {{2, 16, 0}, kHopperIntra216, kHopperInter216},
    {{2, 18, 0}, kHopperIntra218, kHopperInter2181},
    {{2, 18, 3}, kHopperIntra218, kHopperInter2186},
    {{2, 19, 0}, kHopperIntra219, kHopperInter219},
    {{2, 21, 0}, kHopperIntra221, kHopperInter219},
}};
constexpr std::array<SpeedEra, 3> kBlackwell{{
    {{2, 25, 0}, kBlackwellIntra225, kHopperInter219},
    {{2, 27, 0}, kBlackwellIntra227, kBlackwellInter227},
    {{2, 30, 0}, kBlackwellIntra230, kBlackwellInter230},
}};

/// Returns the lists of the GPU's generation; versions that do not know it use the older lists.
std::span<const SpeedEra> eras_of(const Version& version, int compute_capability) {
  if (compute_capability >= 100 && version >= Version{2, 25, 0}) return kBlackwell;
  if (compute_capability >= 90 && version >= Version{2, 16, 0}) return kHopper;
  return kUpToAmpere;
}

}  // namespace

std::span<const Milli> search_speeds(const Version& version, int compute_capability, bool several_nodes) {
  const SpeedEra& era = row_in_force(eras_of(version, compute_capability), version);
  return several_nodes ? era.inter : era.intra;
}

}  // namespace foretrain::nccl

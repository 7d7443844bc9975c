// Latencies in NCCL's forecast by version, in us (docs/sources/nccl_tuning.md 1.2). An entry that a version
// does not use is zero.
#include "sim/collective/nccl/era.hpp"
#include "sim/collective/nccl/tuning_tables.hpp"

namespace foretrain::nccl {

namespace {

/// Latencies of LL, LL128 and Simple in us.
using LatencyRow = std::array<double, 3>;

/// Base latencies that hold since a version.
struct BaseEra {
  Version since;
  LatencyRow tree, ring, collnet, nvls, nvls_tree, pat;
};

constexpr std::array<BaseEra, 6> kBase{{
    {{2, 5, 0}, {4.4, 4.4, 0}, {3.6, 3.6, 8.4}, {}, {}, {}, {}},
    {{2, 7, 0}, {4.4, 4.4, 0}, {3.6, 10.0, 8.4}, {4.4, 4.4, 0}, {}, {}, {}},
    {{2, 17, 0}, {4.4, 4.4, 0}, {3.6, 10.0, 8.4}, {4.4, 4.4, 0}, {0, 0, 40}, {0, 0, 40}, {}},
    {{2, 18, 0}, {6.8, 14.0, 0}, {6.6, 14.0, 8.4}, {6.8, 14.0, 0}, {0, 0, 23}, {0, 0, 23}, {}},
    {{2, 19, 0}, {6.8, 14.0, 0}, {6.6, 14.0, 8.4}, {}, {}, {}, {}},
    {{2, 23, 0}, {6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {}, {}, {}, {8, 8, 8}},
}};

/// Latencies of a hop over each kind of link.
struct Hops {
  LatencyRow nvlink, pcie, network;
  constexpr const LatencyRow& over(Hop hop) const {
    return hop == Hop::nvlink ? nvlink : hop == Hop::pcie ? pcie : network;
  }
};

struct HopEra {
  Version since;
  Hops hops;
};

constexpr std::array<HopEra, 7> kTreeHops{{
    {{2, 5, 0}, {{.5, 1.9, 28}, {1.0, 1.9, 28}, {5.0, 7.5, 50}}},
    {{2, 7, 0}, {{.52, 1.2, 28}, {1.0, 1.9, 28}, {5.0, 8.5, 50}}},
    {{2, 8, 0}, {{.52, 1.25, 28}, {1.0, 1.9, 28}, {5.0, 8.5, 28}}},
    {{2, 18, 0}, {{.6, 1.25, 28}, {1.0, 1.9, 28}, {5.0, 8.5, 28}}},
    {{2, 18, 3}, {{.6, 1.25, 4}, {1.0, 1.9, 6}, {5.0, 8.5, 14}}},
    {{2, 19, 0}, {{.6, 1.25, 28}, {1.0, 1.9, 28}, {5.0, 8.5, 28}}},
    {{2, 23, 0}, {{.6, 1.25, 4}, {1.0, 1.9, 4}, {5.0, 8.5, 14}}},
}};

constexpr std::array<HopEra, 5> kRing{{
    {{2, 5, 0}, {{.4, 2.5, 5.7}, {1.0, 2.5, 5.7}, {.9, 2.5, 6.6}}},
    {{2, 7, 0}, {{.47, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 9.6}}},
    {{2, 12, 0}, {{.47, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 28}}},
    {{2, 14, 0}, {{.47, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 9.6}}},
    {{2, 18, 0}, {{.6, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 14}}},
}};

constexpr std::array<HopEra, 5> kCollNetDirect{{
    {{2, 5, 0}, {}},
    {{2, 7, 0}, {{.5, 1.2, 4.0}, {1.0, 1.9, 5.5}, {5.0, 5.0, 10.7}}},
    {{2, 10, 0}, {{.5, 1.2, 8.0}, {1.0, 1.9, 8.0}, {5.0, 5.0, 10.7}}},
    {{2, 14, 0}, {{0, 0, 8.0}, {0, 0, 8.0}, {0, 0, 10.7}}},
    {{2, 19, 0}, {{0, 0, 3.7}, {0, 0, 3.7}, {0, 0, 31}}},
}};

constexpr std::array<HopEra, 4> kCollNetChain{{
    {{2, 5, 0}, {}},
    {{2, 14, 0}, {{0, 0, 8.0}, {0, 0, 8.0}, {0, 0, 10.7}}},
    {{2, 18, 0}, {{0, 0, 4.75}, {0, 0, 8.0}, {0, 0, 14}}},
    {{2, 19, 0}, {{0, 0, 2.8}, {0, 0, 2.8}, {0, 0, 30}}},
}};

constexpr std::array<HopEra, 4> kNvls{{
    {{2, 5, 0}, {}},
    {{2, 18, 0}, {{}, {}, {0, 0, 18}}},
    {{2, 19, 0}, {{0, 0, 23}, {}, {0, 0, 18}}},
    {{2, 21, 0}, {{0, 0, 25}, {}, {0, 0, 18}}},
}};

constexpr std::array<HopEra, 5> kNvlsTreeHops{{
    {{2, 5, 0}, {}},
    {{2, 18, 0}, {{}, {}, {0, 0, 19}}},
    {{2, 19, 0}, {{0, 0, 23}, {}, {0, 0, 14}}},
    {{2, 21, 0}, {{0, 0, 25}, {}, {0, 0, 14}}},
    {{2, 28, 0}, {{0, 0, 25}, {}, {0, 0, 20.9}}},
}};

/// The parallel aggregated trees: their network step counts for the whole path (1.2).
constexpr std::array<HopEra, 1> kPat{{{{2, 23, 0}, {{}, {}, {0, 0, 14}}}}};

std::span<const HopEra> hop_eras(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::tree:
      return kTreeHops;
    case Algorithm::ring:
      return kRing;
    case Algorithm::collnet_direct:
      return kCollNetDirect;
    case Algorithm::collnet_chain:
      return kCollNetChain;
    case Algorithm::nvls:
      return kNvls;
    case Algorithm::nvls_tree:
      return kNvlsTreeHops;
    case Algorithm::pat:
      return kPat;
  }
  return {};
}

const LatencyRow& base_row(const BaseEra& era, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::tree:
      return era.tree;
    case Algorithm::ring:
      return era.ring;
    case Algorithm::collnet_direct:
    case Algorithm::collnet_chain:
      return era.collnet;
    case Algorithm::nvls:
      return era.nvls;
    case Algorithm::nvls_tree:
      return era.nvls_tree;
    case Algorithm::pat:
      return era.pat;
  }
  return era.ring;
}

}  // namespace

double base_latency_us(const Version& version, Algorithm algorithm, Protocol protocol) {
  const BaseEra& era = row_in_force<BaseEra>(kBase, version);
  return base_row(era, algorithm)[static_cast<std::size_t>(protocol)];
}

double hop_latency_us(const Version& version, Hop hop, Algorithm algorithm, Protocol protocol) {
  const HopEra& era = row_in_force<HopEra>(hop_eras(algorithm), version);
  return era.hops.over(hop)[static_cast<std::size_t>(protocol)];
}

}  // namespace foretrain::nccl

// RCCL's own lists (src/graph/rome_models.cc) have another order, which changes nothing: in a full mesh all
// such sets of rings load every link alike. The set below was found by trial.
#include "sim/collective/nccl/listed_rings.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace foretrain::nccl {

namespace {

constexpr int kMeshGpus = 8;
/// Seven rings of eight GPUs that together use each direction of each of the 28 links once.
constexpr std::array<std::array<int, kMeshGpus>, kMeshGpus - 1> kMeshRings{{{0, 1, 2, 7, 4, 3, 6, 5},
                                                                            {0, 2, 6, 4, 5, 3, 7, 1},
                                                                            {0, 3, 2, 4, 1, 7, 5, 6},
                                                                            {0, 4, 6, 7, 3, 1, 5, 2},
                                                                            {0, 5, 4, 7, 2, 1, 6, 3},
                                                                            {0, 6, 1, 4, 2, 3, 5, 7},
                                                                            {0, 7, 6, 2, 5, 1, 3, 4}}};

/// Returns whether the link's file states the bandwidth that the search assumes.
bool has_own_figure(const NodeLink& link) {
  return link.type.kind == LinkKind::nvlink && link.type.nccl_bandwidth.per_second > 0;
}

/// Returns the bandwidth between every two GPUs; 0 if they are not all joined alike and directly.
Milli mesh_bandwidth(const NodeMap& map) {
  const Milli one = map.gpu_to_gpu(0, 1).bandwidth;
  for (int a = 0; a < map.gpus(); ++a) {
    for (int b = 0; b < map.gpus(); ++b) {
      const NodePath& path = map.gpu_to_gpu(a, b);
      if (a != b && (path.type != PathClass::nvl || path.hops() != 1 || path.bandwidth != one)) return 0;
    }
  }
  return one;
}

/// Returns the adapter below the same PCIe switch for each GPU. Empty if a GPU has none, or if two share one.
std::vector<int> adapters_of_gpus(const NodeMap& map) {
  std::vector<int> out;
  for (int gpu = 0; gpu < map.gpus(); ++gpu) {
    for (int nic = 0; nic < map.nics(); ++nic) {
      const bool is_near = map.gpu_to_nic(gpu, nic).type == PathClass::pix;
      if (is_near && std::ranges::find(out, nic) == out.end()) {
        out.push_back(nic);
        break;
      }
    }
  }
  return out.size() == kMeshGpus ? out : std::vector<int>();
}

/// Returns the closed rings within a node.
std::vector<ChannelPath> paths_in_node() {
  std::vector<ChannelPath> out;
  for (const auto& ring : kMeshRings) out.push_back({{ring.begin(), ring.end()}, -1, -1});
  return out;
}

/// Returns the paths between nodes. Each comes in by one adapter and leaves by another. Eight paths zigzag
/// through the GPUs: k, k+1, k-1, k+2, …, which again uses every direction of every link once.
std::vector<ChannelPath> paths_between_nodes(const std::vector<int>& adapters) {
  std::vector<ChannelPath> out;
  for (int first = 0; first < kMeshGpus; ++first) {
    ChannelPath path;
    for (int i = 0; i < kMeshGpus; ++i) {
      const int step = i % 2 == 1 ? (i + 1) / 2 : kMeshGpus - i / 2;
      path.gpus.push_back((first + step) % kMeshGpus);
    }
    path.nic_in = adapters[static_cast<std::size_t>(path.gpus.front())];
    path.nic_out = adapters[static_cast<std::size_t>(path.gpus.back())];
    out.push_back(std::move(path));
  }
  return out;
}

}  // namespace

std::optional<GraphResult> listed_rings(const NodeMap& map, const NodeSpec& node) {
  if (map.gpus() != kMeshGpus || node.gpus != kMeshGpus || std::ranges::none_of(node.links, has_own_figure))
    return std::nullopt;
  const Milli booked = mesh_bandwidth(map);
  const std::vector<int> adapters = adapters_of_gpus(map);
  if (booked <= 0 || (map.nics() > 0 && adapters.empty())) return std::nullopt;
  GraphResult rings;
  rings.pattern = Pattern::ring;
  rings.paths = map.nics() > 0 ? paths_between_nodes(adapters) : paths_in_node();
  rings.channels = static_cast<int>(rings.paths.size());
  rings.bw_intra = rings.bw_inter = to_gbps(booked);
  rings.type_intra = rings.type_inter = PathClass::nvl;
  rings.same_channels = false;
  if (map.nics() == 0) return rings;
  rings.bw_inter = std::min(rings.bw_intra, to_gbps(map.gpu_to_nic(0, adapters[0]).bandwidth));
  rings.type_inter = PathClass::pix;
  rings.cross_nic = true;
  return rings;
}

}  // namespace foretrain::nccl

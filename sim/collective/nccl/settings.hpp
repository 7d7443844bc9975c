// The settings of NCCL's environment; the defaults are NCCL's own.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/cluster/path_class.hpp"
#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/collective/protocol.hpp"

namespace foretrain::nccl {

/// The setting NCCL_CROSS_NIC: whether a ring may leave a node by another rail than it came in by.
enum class CrossNic : std::uint8_t { never, always, automatic };

/// Isolation of ranks on one machine. NCCL compares host names, and takes ranks with different host names for
/// different nodes. pod: each also has a network of its own behind the machine's interface.
enum class Isolation : std::uint8_t { none, pod, container };

/// The settings of users, containers and network plug-ins for NCCL. Comments name the environment variables.
/// A member without a value leaves the decision to NCCL.
struct Settings {
  Version version{};
  std::optional<Algorithm> algorithm{};  ///< NCCL_ALGO
  std::optional<Protocol> protocol{};    ///< NCCL_PROTO
  int min_channels = 0,
      max_channels = 0;    ///< NCCL_MIN_NCHANNELS (min CTAs), NCCL_MAX_NCHANNELS (max CTAs); 0: NCCL's own
  bool nvls = true;        ///< NCCL_NVLS_ENABLE
  bool collnet = false;    ///< NCCL_COLLNET_ENABLE; needs a fabric that reduces
  bool p2p = true;         ///< NCCL_P2P_DISABLE=0
  bool pxn = true;         ///< NCCL_PXN_DISABLE=0
  bool cuda_11_8 = false;  ///< NCCL was built with this version of CUDA.
  std::optional<PathClass> p2p_level{};       ///< NCCL_P2P_LEVEL
  std::optional<PathClass> gdr_level{};       ///< NCCL_NET_GDR_LEVEL; else the node's
  CrossNic cross_nic = CrossNic::automatic;   ///< NCCL_CROSS_NIC
  int simple_threads = 0, ll128_threads = 0;  ///< NCCL_NTHREADS, NCCL_LL128_NTHREADS; 0: NCCL's own
  std::int64_t buffer_bytes = 0;              ///< NCCL_BUFFSIZE; 0: NCCL's own
  Isolation isolation = Isolation::none;      ///< of every rank
  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace foretrain::nccl

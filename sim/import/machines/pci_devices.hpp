// What PCI numbers and product names say: which GPU of the catalog, which network an adapter is on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/scenario/gpu_names.hpp"

namespace foretrain {

/// An adapter by its PCI vendor and device, "15b3:101b".
struct AdapterModel {
  std::string_view device;
  std::string_view network;  ///< the link of the catalog that its ports usually run
  std::string_view name;
};
const AdapterModel* adapter_of(std::string_view pci_device);

/// The link between nodes for a port of so many Gb/s; `device` decides between InfiniBand and others and may
/// be empty. Empty: no link of the catalog is near.
std::string network_of(std::string_view pci_device, double gbps, bool is_ethernet = false);
/// The one whose rate is nearest.
std::string nearest_network(double gbps, bool is_ethernet);
/// The same of sockets (TCP); 0 Gb/s: what most nodes without InfiniBand have.
std::string nearest_socket_network(double gbps);

/// "NVIDIA A100-SXM4-80GB" is a100-sxm4-80gb, "NVIDIA H200" any H200, "L40" no L40S.
bool is_product(const Gpu& gpu, std::string_view product);

/// Those of the words that name GPUs of the catalog: "mi100", "v100-32g"; a number alone names none.
std::vector<std::string> gpu_names_among(const std::vector<std::string>& words);

/// What is known of the GPUs of a node.
struct GpuTraits {
  std::string product;            ///< empty: not said
  std::string pci_device;         ///< likewise
  double compute_capability = 0;  ///< 0: not said
  int nvlinks = -1;               ///< of one GPU; −1: not said
  bool is_wired = false;          ///< NVLinks go to more than one other GPU: no bridge
  int generation = 0;             ///< of its PCIe link; 0: not said
  int gpus_of_node = 0;
};

/// The catalog's name of a GPU, and what it was recognised by.
struct RecognisedGpu {
  std::string name;     ///< of the catalog
  std::string because;  ///< "PCI 10de:20b2", or what was assumed and from what
  bool assumed = false;
};

/// By PCI number, else by product, else the GPU of the catalog that is nearest to the other traits.
RecognisedGpu recognised_gpu(const GpuTraits& traits);

}  // namespace foretrain

// Tells from PCI numbers and product names which GPU of the catalog a device is, and on which network an
// adapter is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/scenario/gpu_names.hpp"

namespace foretrain {

/// A known network adapter, by its PCI vendor and device, such as "15b3:101b".
struct AdapterModel {
  std::string_view device;
  /// Link of the catalog that its ports usually run, such as "ib_hdr".
  std::string_view network;
  /// Model for people, such as "ConnectX-6"; it ends in "VF" for virtual functions.
  std::string_view name;
};
/// Returns the model of an adapter, or nullptr when the table lacks it.
const AdapterModel* adapter_of(std::string_view pci_device);

/// Returns the link of the catalog for a port of that rate in Gb/s, to within 5 %; empty when none is near.
/// A rate of 0 gives what the model usually runs. `pci_device` may be empty; it and `is_ethernet` decide
/// between InfiniBand and Ethernet.
std::string network_of(std::string_view pci_device, double gbps, bool is_ethernet = false);
/// Returns the link whose rate is nearest, on a logarithmic scale. Requires a positive rate.
std::string nearest_network(double gbps, bool is_ethernet);
/// Returns the TCP link whose rate is nearest. 0 Gb/s stands for 10 Gb/s, which most nodes without InfiniBand
/// have.
std::string nearest_socket_network(double gbps);

/// Says whether a GPU of the catalog can be a product: "NVIDIA A100-SXM4-80GB" is a100-sxm4-80gb, "NVIDIA
/// H200" is any H200, and "L40" is not L40S.
bool is_product(const Gpu& gpu, std::string_view product);

/// Returns those of the words that name GPUs of the catalog, such as "mi100" or "v100-32g". A number alone
/// names none.
std::vector<std::string> gpu_names_among(const std::vector<std::string>& words);

/// The known facts about the GPUs of a node, from which the catalog's entry is chosen.
struct GpuTraits {
  /// Product as the driver names it; empty when unknown.
  std::string product;
  /// PCI vendor and device; empty when unknown.
  std::string pci_device;
  /// CUDA's compute capability; 0 when unknown.
  double compute_capability = 0;
  /// NVLinks of one GPU; -1 when unknown.
  int nvlinks = -1;
  /// True when its NVLinks go to more than one other GPU, so they are wired on a board and are no bridge.
  bool is_wired = false;
  /// Generation of its PCIe link; 0 when unknown.
  int generation = 0;
  /// Number of GPUs in the node.
  int gpus_of_node = 0;
};

/// The catalog's name of a GPU, and the facts that it was recognised by.
struct RecognisedGpu {
  /// Name in the catalog.
  std::string name;
  /// Reason in words, such as "PCI 10de:20b2", or the facts that the nearest entry was chosen by.
  std::string because;
  /// True when the entry is only the nearest one.
  bool assumed = false;
};

/// Returns the GPU by its PCI number, else by its product, else the GPU of the catalog nearest to the other
/// facts.
/// Throws InputError for a product that the catalog lacks when nothing else is known of the GPU.
RecognisedGpu recognised_gpu(const GpuTraits& traits);

}  // namespace foretrain

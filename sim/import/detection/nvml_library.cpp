// NVML's functions declared here: its header is in no driver, its binary interface never changed (nvml.h of
// CUDA 8 to 12).
#include <algorithm>

#include "sim/base/shared_library.hpp"
#include "sim/import/detection/nvml_facts.hpp"
#include "sim/import/detection/pci_bus.hpp"

namespace foretrain {

namespace {

constexpr int kNvmlSuccess = 0, kClockSm = 1, kReadsPeers = 0, kPeerOk = 0;
constexpr unsigned kMostNvmlGpus = 256, kMostNvlinksOfGpu = 36;
constexpr unsigned kRemoteIsGpu = 0, kRemoteIsCpu = 1;

/// nvmlPciInfo_t, version 3.
struct NvmlPci {
  char legacy_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

/// nvmlMemory_t
struct NvmlMemory {
  unsigned long long total, free, used;
};

struct NvmlDevice;  // NVML's
using NvmlHandle = NvmlDevice*;

class NvmlLibrary {
 public:
  NvmlLibrary() : library_(SharedLibrary::open({"libnvidia-ml.so.1"})) {
    library_.load(product_, "nvmlDeviceGetName");
    library_.load(pci_, "nvmlDeviceGetPciInfo_v3");
    library_.load(capability_, "nvmlDeviceGetCudaComputeCapability");
    library_.load(memory_, "nvmlDeviceGetMemoryInfo");
    library_.load(most_clock_, "nvmlDeviceGetMaxClockInfo");
    library_.load(held_clock_, "nvmlDeviceGetApplicationsClock");
    library_.load(power_, "nvmlDeviceGetEnforcedPowerLimit");
    library_.load(usual_power_, "nvmlDeviceGetPowerManagementDefaultLimit");
    library_.load(slices_, "nvmlDeviceGetMigMode");
    library_.load(link_state_, "nvmlDeviceGetNvLinkState");
    library_.load(link_remote_, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    library_.load(remote_type_, "nvmlDeviceGetNvLinkRemoteDeviceType");
    library_.load(peers_, "nvmlDeviceGetP2PStatus");
  }

  NvmlFacts facts() {
    NvmlFacts out;
    out.missing = open_devices();
    for (const NvmlHandle device : devices_) out.gpus.push_back(gpu_of(device));
    name_switches(out.gpus);
    out.peer_access = peer_access();
    return out;
  }

 private:
  /// Why it could not; empty when it could.
  std::string open_devices() {
    int (*initialize)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*at)(unsigned, NvmlHandle*) = nullptr;
    if (!library_) return "libnvidia-ml.so.1 is not here";
    if (!library_.load(initialize, "nvmlInit_v2") || !library_.load(count, "nvmlDeviceGetCount_v2") ||
        !library_.load(at, "nvmlDeviceGetHandleByIndex_v2"))
      return "libnvidia-ml.so.1 lacks its functions";
    unsigned gpus = 0;
    if (initialize() != kNvmlSuccess || count(&gpus) != kNvmlSuccess)
      return "NVIDIA's driver does not answer";
    for (unsigned i = 0; i < std::min(gpus, kMostNvmlGpus); ++i) {
      NvmlHandle device = nullptr;
      if (at(i, &device) == kNvmlSuccess && device != nullptr) devices_.push_back(device);
    }
    return "";
  }

  /// A number that a call of (device, …, number*) gives; 0 when it gives none.
  template <class Function, class... Arguments>
  static unsigned number(Function* function, Arguments... arguments) {
    unsigned value = 0;
    return function != nullptr && function(arguments..., &value) == kNvmlSuccess ? value : 0;
  }

  NvmlGpu gpu_of(NvmlHandle device) const {
    NvmlGpu gpu;
    char product[97] = {};
    if (product_ != nullptr && product_(device, product, sizeof product - 1) == kNvmlSuccess)
      gpu.product = product;
    NvmlPci pci{};
    if (pci_ != nullptr && pci_(device, &pci) == kNvmlSuccess) gpu.bus = address_in(pci);
    int major = 0, minor = 0;
    if (capability_ != nullptr && capability_(device, &major, &minor) == kNvmlSuccess)
      gpu.compute_capability = major + minor / 10.0;
    NvmlMemory memory{};
    if (memory_ != nullptr && memory_(device, &memory) == kNvmlSuccess)
      gpu.memory = Bytes{static_cast<std::int64_t>(std::min(memory.total, 1ull << 50))};
    gpu.clock_mhz = static_cast<int>(number(most_clock_, device, kClockSm));
    gpu.held_clock_mhz = static_cast<int>(number(held_clock_, device, kClockSm));
    gpu.power_w = number(power_, device) / 1000.0;
    gpu.usual_power_w = number(usual_power_, device) / 1000.0;
    unsigned is_sliced = 0, later = 0;
    gpu.is_sliced =
        slices_ != nullptr && slices_(device, &is_sliced, &later) == kNvmlSuccess && is_sliced == 1;
    add_links(device, gpu);
    return gpu;
  }

  static std::string address_in(const NvmlPci& pci) {
    const std::string_view text(pci.address, sizeof pci.address);
    return sysfs_address(text.substr(0, text.find('\0')));
  }

  /// Links that a product lacks are an error to NVML, those that are down are not. A POWER9 at the far end is
  /// left to the host's model.
  void add_links(NvmlHandle device, NvmlGpu& gpu) const {
    for (unsigned link = 0; link_state_ != nullptr && link < kMostNvlinksOfGpu; ++link) {
      unsigned is_up = 0;
      if (link_state_(device, link, &is_up) != kNvmlSuccess) continue;
      gpu.tells_nvlinks = true;
      gpu.nvlinks_down += is_up == 0 ? 1 : 0;
      NvmlPci remote{};
      if (is_up == 0 || link_remote_ == nullptr || link_remote_(device, link, &remote) != kNvmlSuccess)
        continue;
      unsigned type = kRemoteIsGpu;
      const bool is_typed = remote_type_ != nullptr && remote_type_(device, link, &type) == kNvmlSuccess;
      if (is_typed && type == kRemoteIsCpu) continue;
      gpu.nvlinks.push_back({is_typed && type != kRemoteIsGpu ? "" : address_in(remote)});
    }
  }

  /// What is no GPU's address is an NVSwitch's.
  static void name_switches(std::vector<NvmlGpu>& gpus) {
    for (NvmlGpu& gpu : gpus) {
      for (NvmlLink& link : gpu.nvlinks) {
        if (std::ranges::find(gpus, link.to, &NvmlGpu::bus) == gpus.end()) link.to.clear();
      }
    }
  }

  std::optional<bool> peer_access() const {
    if (peers_ == nullptr || devices_.size() < 2) return std::nullopt;
    for (const NvmlHandle a : devices_) {
      for (const NvmlHandle b : devices_) {
        int status = kPeerOk;
        if (a == b) continue;
        if (peers_(a, b, kReadsPeers, &status) != kNvmlSuccess) return std::nullopt;
        if (status != kPeerOk) return false;
      }
    }
    return true;
  }

  SharedLibrary library_;
  std::vector<NvmlHandle> devices_;
  int (*product_)(NvmlHandle, char*, unsigned) = nullptr;
  int (*pci_)(NvmlHandle, NvmlPci*) = nullptr;
  int (*capability_)(NvmlHandle, int*, int*) = nullptr;
  int (*memory_)(NvmlHandle, NvmlMemory*) = nullptr;
  int (*most_clock_)(NvmlHandle, int, unsigned*) = nullptr;
  int (*held_clock_)(NvmlHandle, int, unsigned*) = nullptr;
  int (*power_)(NvmlHandle, unsigned*) = nullptr;
  int (*usual_power_)(NvmlHandle, unsigned*) = nullptr;
  int (*slices_)(NvmlHandle, unsigned*, unsigned*) = nullptr;
  int (*link_state_)(NvmlHandle, unsigned, unsigned*) = nullptr;
  int (*link_remote_)(NvmlHandle, unsigned, NvmlPci*) = nullptr;
  int (*remote_type_)(NvmlHandle, unsigned, unsigned*) = nullptr;
  int (*peers_)(NvmlHandle, NvmlHandle, int, int*) = nullptr;
};

}  // namespace

NvmlFacts nvml_facts() { return NvmlLibrary().facts(); }

}  // namespace foretrain

// The functions of NVML are declared here and found at run time: drivers come without its header, and its
// binary interface is stable (nvml.h of CUDA 8 to 12).
// Functions that an older driver lacks stay null and their facts stay unknown.
#include <algorithm>

#include "sim/base/shared_library.hpp"
#include "sim/import/detection/nvml_facts.hpp"
#include "sim/import/detection/pci_bus.hpp"

namespace foretrain {

namespace {

/// Values of NVML's enumerations: success, the clock of the multiprocessors, reading a peer's memory, and
/// "possible".
constexpr int kNvmlSuccess = 0, kClockSm = 1, kReadsPeers = 0, kPeerOk = 0;
/// Limits of GPUs and of links of one GPU, against answers that make no sense.
constexpr unsigned kMostNvmlGpus = 256, kMostNvlinksOfGpu = 36;
/// Values of nvmlIntNvLinkDeviceType_t.
constexpr unsigned kRemoteIsGpu = 0, kRemoteIsCpu = 1;

/// The layout of nvmlPciInfo_t, version 3.
struct NvmlPci {
  char legacy_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

/// The layout of nvmlMemory_t, in bytes.
struct NvmlMemory {
  unsigned long long total, free, used;
};

// The device is opaque to users of NVML.
struct NvmlDevice;
using NvmlHandle = NvmlDevice*;

/// Opens NVML and asks for all facts. The library stays loaded while the object lives.
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

  /// Asks for everything. Without the library or the driver, only `missing` is set.
  NvmlFacts facts() {
    NvmlFacts out;
    out.missing = open_devices();
    for (const NvmlHandle device : devices_) out.gpus.push_back(gpu_of(device));
    name_switches(out.gpus);
    out.peer_access = peer_access();
    return out;
  }

 private:
  /// Starts NVML and lists its devices. Returns the reason why it could not, or "".
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

  /// Calls a function of the form (device, …, number*). Returns the number, or 0 when the function is missing
  /// or fails.
  template <class Function, class... Arguments>
  static unsigned number(Function* function, Arguments... arguments) {
    unsigned value = 0;
    return function != nullptr && function(arguments..., &value) == kNvmlSuccess ? value : 0;
  }

  /// Asks for all facts of a GPU. Every call may fail by itself, which leaves its facts unknown.
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
      // The bound keeps a senseless amount from overflowing the signed type.
      gpu.memory = Bytes{static_cast<std::int64_t>(std::min(memory.total, 1ull << 50))};
    gpu.clock_mhz = static_cast<int>(number(most_clock_, device, kClockSm));
    gpu.held_clock_mhz = static_cast<int>(number(held_clock_, device, kClockSm));
    // NVML gives milliwatts.
    gpu.power_w = number(power_, device) / 1000.0;
    gpu.usual_power_w = number(usual_power_, device) / 1000.0;
    unsigned is_sliced = 0, later = 0;
    gpu.is_sliced =
        slices_ != nullptr && slices_(device, &is_sliced, &later) == kNvmlSuccess && is_sliced == 1;
    add_links(device, gpu);
    return gpu;
  }

  /// Returns the address as sysfs writes it.
  static std::string address_in(const NvmlPci& pci) {
    const std::string_view text(pci.address, sizeof pci.address);
    return sysfs_address(text.substr(0, text.find('\0')));
  }

  /// Counts the links of a GPU. A link that the product lacks is an error to NVML; a link that is down is
  /// not.
  /// Links to a POWER9 are skipped: the model of the host describes them.
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
      // An old driver gives no type, so the address of the far end is kept and name_switches() decides.
      gpu.nvlinks.push_back({is_typed && type != kRemoteIsGpu ? "" : address_in(remote)});
    }
  }

  /// Clears addresses at which no GPU is: an NVSwitch is at the far end.
  static void name_switches(std::vector<NvmlGpu>& gpus) {
    for (NvmlGpu& gpu : gpus) {
      for (NvmlLink& link : gpu.nvlinks) {
        if (std::ranges::find(gpus, link.to, &NvmlGpu::bus) == gpus.end()) link.to.clear();
      }
    }
  }

  /// Says whether every pair of GPUs can read each other's memory; no value when a call fails or there are
  /// fewer than two GPUs.
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

  /// The library, its devices, and its functions; a null function is missing in this driver.
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

// NVML's few functions declared here: its header is not in every toolkit, its binary interface never changed.
#include "calibrate/micro/gpu/nvml.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"

namespace foretrain::micro {

namespace {

constexpr int kSuccess = 0, kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;
constexpr unsigned kMostLinks = 18;

/// Domain, bus and device without leading zeros of the domain, in lower case: CUDA and NVML write different
/// numbers of them.
std::string plain_address(std::string_view written) {
  const std::string address = lower_case(written);
  const std::size_t colon = address.find(':');
  const std::size_t first = std::min(address.find_first_not_of('0'), colon);
  return first == std::string::npos ? address : address.substr(first);
}

}  // namespace

/// nvmlPciInfo_t, version 3.
struct Nvml::PciInfo {
  char legacy_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

std::shared_ptr<const Nvml> Nvml::open(const std::vector<std::string>& pci_addresses) {
  std::shared_ptr<Nvml> nvml(new Nvml());
  return nvml->load(pci_addresses) ? nvml : nullptr;
}

bool Nvml::load(const std::vector<std::string>& pci_addresses) {
  library_ = SharedLibrary::open({"libnvidia-ml.so.1"});
  int (*initialize)() = nullptr;
  if (!library_ || !library_.load(initialize, "nvmlInit_v2") || initialize() != kSuccess) return false;
  const bool finds = library_.load(by_address_, "nvmlDeviceGetHandleByPciBusId_v2");
  library_.load(driver_, "nvmlSystemGetDriverVersion");
  library_.load(clock_, "nvmlDeviceGetClockInfo");
  library_.load(max_clock_, "nvmlDeviceGetMaxClockInfo");
  library_.load(temperature_, "nvmlDeviceGetTemperature");
  library_.load(generation_, "nvmlDeviceGetMaxPcieLinkGeneration");
  library_.load(lanes_, "nvmlDeviceGetMaxPcieLinkWidth");
  library_.load(ancestor_, "nvmlDeviceGetTopologyCommonAncestor");
  library_.load(link_state_, "nvmlDeviceGetNvLinkState");
  library_.load(link_remote_, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  load_warnings();
  for (const std::string& address : pci_addresses) {
    Handle handle = nullptr;
    if (!finds || by_address_(address.c_str(), &handle) != kSuccess) handle = nullptr;
    handles_.push_back(handle);
    addresses_.push_back(plain_address(address));
  }
  return true;
}

std::string Nvml::driver_version() const {
  char text[96] = {};
  return driver_ != nullptr && driver_(text, sizeof text) == kSuccess ? text : "";
}

Settings Nvml::state_of(int gpu) const {
  Settings state;
  const Handle handle = handles_.at(static_cast<std::size_t>(gpu));
  unsigned value = 0;
  if (handle == nullptr) return state;
  if (clock_ != nullptr && clock_(handle, kClockSm, &value) == kSuccess)
    state.emplace_back("clock_mhz", std::to_string(value));
  if (temperature_ != nullptr && temperature_(handle, kTemperatureGpu, &value) == kSuccess)
    state.emplace_back("temperature_c", std::to_string(value));
  return state;
}

Settings Nvml::limits_of(int gpu) const {
  Settings limits;
  const Handle handle = handles_.at(static_cast<std::size_t>(gpu));
  unsigned value = 0, lanes = 0;
  if (handle == nullptr) return limits;
  if (max_clock_ != nullptr && max_clock_(handle, kClockSm, &value) == kSuccess)
    limits.emplace_back("max_clock_mhz", std::to_string(value));
  if (max_clock_ != nullptr && max_clock_(handle, kClockMemory, &value) == kSuccess)
    limits.emplace_back("max_memory_clock_mhz", std::to_string(value));
  if (generation_ != nullptr && lanes_ != nullptr && generation_(handle, &value) == kSuccess &&
      lanes_(handle, &lanes) == kSuccess)
    limits.emplace_back("pcie", fmt::format("gen{} x{}", value, lanes));
  return limits;
}

/// Links of `a` that end at `b`; links to a switch reach every GPU.
int Nvml::active_links(std::size_t a, std::size_t b) const {
  if (link_state_ == nullptr || link_remote_ == nullptr || handles_[a] == nullptr) return 0;
  int links = 0;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    unsigned is_active = 0;
    PciInfo remote{};
    if (link_state_(handles_[a], link, &is_active) != kSuccess || is_active == 0) continue;
    if (link_remote_(handles_[a], link, &remote) != kSuccess) continue;
    const std::string address = plain_address(remote.address);
    const bool is_gpu = std::find(addresses_.begin(), addresses_.end(), address) != addresses_.end();
    links += address == addresses_[b] || !is_gpu ? 1 : 0;
  }
  return links;
}

std::string Nvml::path_between(std::size_t a, std::size_t b) const {
  if (const int links = active_links(a, b); links > 0) return fmt::format("NV{}", links);
  int level = -1;
  if (ancestor_ == nullptr || handles_[a] == nullptr || handles_[b] == nullptr ||
      ancestor_(handles_[a], handles_[b], &level) != kSuccess)
    return "?";
  constexpr const char* kLevels[] = {"INT", "PIX",  "PXB",
                                     "PHB", "NODE", "SYS"};  // nvmlGpuTopologyLevel_t: 0, 10, … 50
  return level >= 0 && level <= 50 ? kLevels[level / 10] : "?";
}

std::string Nvml::topology() const {
  std::string text;
  for (std::size_t a = 0; a < handles_.size(); ++a) {
    for (std::size_t b = a + 1; b < handles_.size(); ++b)
      text += fmt::format("{}{}-{}:{}", text.empty() ? "" : " ", a, b, path_between(a, b));
  }
  return text;
}

}  // namespace foretrain::micro

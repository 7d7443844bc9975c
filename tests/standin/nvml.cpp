// NVML of the made-up machine: clocks, temperature, a PCIe 4 slot, four NVLinks between the two GPUs.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/standin/constants.hpp"
#include "tests/standin/device.hpp"

using namespace standin;

namespace {

/// A handle is the GPU's number and one, as a pointer.
using Handle = void*;
int gpu_of(Handle handle) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1; }

/// nvmlPciInfo_t, version 3.
struct PciInfo {
  char legacy_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

int answer(const char* name, unsigned* to, unsigned value) {
  const int failed = begin_call(name, 0);
  if (failed == 0) *to = value;
  return failed;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return begin_call(__func__, 0); }
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "550.0.0");
  return begin_call(__func__, 0);
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, Handle* handle) {
  const char* colon = std::strchr(address, ':');
  const long bus = colon == nullptr ? 0 : std::strtol(colon + 1, nullptr, 16);
  *handle = reinterpret_cast<Handle>(static_cast<std::uintptr_t>(bus / 16));
  return begin_call(__func__, 0);
}
int nvmlDeviceGetClockInfo(Handle, int, unsigned* value) { return answer(__func__, value, 1410); }
int nvmlDeviceGetMaxClockInfo(Handle, int what, unsigned* value) {
  return answer(__func__, value, what == 1 ? 1410 : 1215);
}
int nvmlDeviceGetTemperature(Handle, int, unsigned* value) { return answer(__func__, value, 44); }
int nvmlDeviceGetMaxPcieLinkGeneration(Handle, unsigned* value) { return answer(__func__, value, 4); }
int nvmlDeviceGetMaxPcieLinkWidth(Handle, unsigned* value) { return answer(__func__, value, 16); }
int nvmlDeviceGetTopologyCommonAncestor(Handle, Handle, int* level) {
  *level = 30;
  return begin_call(__func__, 0);
}
int nvmlDeviceGetNvLinkState(Handle, unsigned link, unsigned* is_active) {
  return answer(__func__, is_active, link < 4 ? 1 : 0);
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(Handle handle, unsigned, PciInfo* info) {
  std::snprintf(info->address, sizeof info->address, "00000000:%02X:00.0", 16 * (2 - gpu_of(handle)));
  return begin_call(__func__, 0);
}

int nvmlDeviceGetComputeRunningProcesses_v3(Handle, unsigned* count, void*) {
  return answer(__func__, count, is_wanted("gpu_in_use") ? 3 : 1);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(Handle, unsigned* count, void*) {
  return answer(__func__, count, is_wanted("mps") ? 1 : 0);
}
int nvmlDeviceGetMigMode(Handle, unsigned* current, unsigned* pending) {
  *pending = 0;
  return answer(__func__, current, is_wanted("mig") ? 1 : 0);
}
int nvmlDeviceGetApplicationsClock(Handle, int, unsigned* value) {
  return answer(__func__, value, is_wanted("held_clocks") ? 900 : 1410);
}
int nvmlDeviceGetDefaultApplicationsClock(Handle, int, unsigned* value) {
  return answer(__func__, value, 1410);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Handle, unsigned long long* reasons) {
  *reasons = is_wanted("locked_clocks") ? 2 : 1;
  return begin_call(__func__, 0);
}
int nvmlDeviceGetEnforcedPowerLimit(Handle, unsigned* value) {
  return answer(__func__, value, is_wanted("less_power") ? 250'000 : 400'000);
}
int nvmlDeviceGetPowerManagementDefaultLimit(Handle, unsigned* value) {
  return answer(__func__, value, 400'000);
}

}  // extern "C"

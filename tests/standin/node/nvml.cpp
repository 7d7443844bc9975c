// NVML of a node that a file describes (STANDIN_NVML): "gpu ADDRESS CAPABILITY MIB CLOCK HELD PRODUCT", below
// it its NVLinks, "link ADDRESS TYPE UP" with type 0 for a GPU and 2 for a switch.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Link {
  std::string to;
  unsigned type = 0, is_up = 0;
};
struct Device {
  std::string address, product;
  int major = 0, minor = 0;
  unsigned long long mebibytes = 0;
  unsigned clock = 0, held = 0;
  std::vector<Link> links;
};
using Handle = Device*;

constexpr int kOk = 0, kNotSupported = 3, kInvalid = 2, kNoDriver = 9;

std::vector<Device>& devices() {
  static std::vector<Device> all;
  return all;
}

void read_line(const std::string& text) {
  std::istringstream line(text);
  std::string kind;
  line >> kind;
  if (kind == "gpu") {
    Device device;
    char point = 0;
    line >> device.address >> device.major >> point >> device.minor >> device.mebibytes >> device.clock >>
        device.held;
    std::getline(line >> std::ws, device.product);
    devices().push_back(device);
  }
  if (kind == "link" && !devices().empty()) {
    Link link;
    line >> link.to >> link.type >> link.is_up;
    devices().back().links.push_back(link);
  }
}

/// nvmlPciInfo_t, version 3.
struct PciInfo {
  char legacy_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

int write_address(const std::string& address, PciInfo* info) {
  std::snprintf(info->address, sizeof info->address, "%s", address.c_str());
  return kOk;
}

const Link* link_of(Handle device, unsigned link) {
  return link < device->links.size() ? &device->links[link] : nullptr;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* file = std::getenv("STANDIN_NVML");
  std::ifstream in(file == nullptr ? "" : file);
  for (std::string line; std::getline(in, line);) read_line(line);
  return devices().empty() ? kNoDriver : kOk;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(devices().size());
  return kOk;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* device) {
  if (index >= devices().size()) return kInvalid;
  *device = &devices()[index];
  return kOk;
}
int nvmlDeviceGetName(Handle device, char* text, unsigned length) {
  std::snprintf(text, length, "%s", device->product.c_str());
  return kOk;
}
int nvmlDeviceGetPciInfo_v3(Handle device, PciInfo* info) { return write_address(device->address, info); }
int nvmlDeviceGetCudaComputeCapability(Handle device, int* major, int* minor) {
  *major = device->major;
  *minor = device->minor;
  return kOk;
}
int nvmlDeviceGetMemoryInfo(Handle device, unsigned long long* memory) {
  memory[0] = device->mebibytes << 20;
  memory[1] = memory[2] = 0;
  return kOk;
}
int nvmlDeviceGetMaxClockInfo(Handle device, int, unsigned* value) {
  *value = device->clock;
  return kOk;
}
int nvmlDeviceGetApplicationsClock(Handle device, int, unsigned* value) {
  *value = device->held;
  return kOk;
}
int nvmlDeviceGetNvLinkState(Handle device, unsigned link, unsigned* is_up) {
  const Link* found = link_of(device, link);
  if (found == nullptr) return kNotSupported;
  *is_up = found->is_up;
  return kOk;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(Handle device, unsigned link, PciInfo* info) {
  const Link* found = link_of(device, link);
  return found == nullptr ? kNotSupported : write_address(found->to, info);
}
int nvmlDeviceGetNvLinkRemoteDeviceType(Handle device, unsigned link, unsigned* type) {
  const Link* found = link_of(device, link);
  if (found == nullptr) return kNotSupported;
  *type = found->type;
  return kOk;
}
int nvmlDeviceGetP2PStatus(Handle, Handle, int, int* status) {
  *status = kOk;
  return kOk;
}

}  // extern "C"

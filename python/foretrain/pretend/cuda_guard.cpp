// CUDA for a machine without a GPU, as autograd asks for it: a guard and hooks; nothing is ever launched.
// It is loaded before PyTorch asks for its own hooks, and uses public headers only.
#include <cstdlib>

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

// A warning of a function that overrides without saying so is expected: older versions have fewer of them.
namespace {

int device_count() {
  const char* given = std::getenv("FORETRAIN_DEVICES");
  return given != nullptr ? std::atoi(given) : 1;
}

struct PretendGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::Device getDevice() const override { return c10::Device(c10::DeviceType::CUDA, 0); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override {
    return static_cast<c10::DeviceIndex>(device_count());
  }
};

struct PretendHooks final : at::CUDAHooksInterface {
  explicit PretendHooks(at::CUDAHooksArgs) {}
  void init() const {}
  void initCUDA() const {}
  bool hasCUDA() const { return true; }
  bool isBuilt() const { return true; }
  bool isAvailable() const { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const { return true; }
  c10::DeviceIndex deviceCount() const { return static_cast<c10::DeviceIndex>(device_count()); }
  c10::DeviceIndex current_device() const { return 0; }
  c10::DeviceIndex getCurrentDevice() const { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const { return 0; }
  int getNumGPUs() const { return device_count(); }
  bool isPinnedPtr(const void*) const { return false; }
};

PretendGuard guard;

}  // namespace

extern "C" void foretrain_show_cuda() {
  c10::impl::DeviceGuardImplRegistrar registrar(c10::DeviceType::CUDA, &guard);
}

extern "C" void foretrain_hook_cuda() {
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks",
      [](at::CUDAHooksArgs arguments) -> std::unique_ptr<at::CUDAHooksInterface> {
        return std::make_unique<PretendHooks>(arguments);
      },
      c10::REGISTRY_PREFERRED);
}

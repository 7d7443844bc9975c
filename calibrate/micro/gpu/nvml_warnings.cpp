// What NVML knows of a GPU that is not wholly ours or not as fast as its product. A call that NVML does not
// know or refuses warns of nothing.
#include <array>

#include <fmt/format.h>

#include "calibrate/micro/gpu/nvml.hpp"

namespace foretrain::micro {

namespace {

constexpr int kTold = 0, kClockOfSm = 1;
constexpr unsigned kMostProcesses = 256;
/// nvmlClocksThrottleReasonApplicationsClocksSetting
constexpr unsigned long long kHeldByUser = 2;

/// nvmlProcessInfo_v2_t, of the functions whose names end in _v3.
struct ProcessInfo {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};

/// 0 where NVML does not tell.
template <class Function, class Handle>
unsigned count_processes(Function* function, Handle handle) {
  std::array<ProcessInfo, kMostProcesses> found{};
  unsigned count = kMostProcesses;
  return function != nullptr && function(handle, &count, found.data()) == kTold ? count : 0;
}

/// A number that a call of (handle, …, number*) gives; 0 when it gives none.
template <class Function, class... Arguments>
unsigned number_of(Function* function, Arguments... arguments) {
  unsigned value = 0;
  return function != nullptr && function(arguments..., &value) == kTold ? value : 0;
}

}  // namespace

void Nvml::load_warnings() {
  library_.load(processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
  library_.load(mps_processes_, "nvmlDeviceGetMPSComputeRunningProcesses_v3");
  library_.load(slices_, "nvmlDeviceGetMigMode");
  library_.load(held_clock_, "nvmlDeviceGetApplicationsClock");
  library_.load(usual_clock_, "nvmlDeviceGetDefaultApplicationsClock");
  library_.load(limits_at_work_, "nvmlDeviceGetCurrentClocksThrottleReasons");
  library_.load(power_, "nvmlDeviceGetEnforcedPowerLimit");
  library_.load(usual_power_, "nvmlDeviceGetPowerManagementDefaultLimit");
}

std::string Nvml::users_warning(Handle handle, int gpu) const {
  // A container does not know its own number among the processes: one of them is this one.
  const unsigned processes = count_processes(processes_, handle);
  if (processes <= 1) return "";
  const unsigned others = processes - 1;
  return fmt::format("{} other {} on GPU {}, so its rates are too low", others,
                     others == 1 ? "process computes" : "processes compute", gpu);
}

std::string Nvml::clock_warning(Handle handle, int gpu) const {
  const unsigned held = number_of(held_clock_, handle, kClockOfSm),
                 usual = number_of(usual_clock_, handle, kClockOfSm);
  if (held > 0 && held < usual)
    return fmt::format("GPU {} is held at {} MHz, its default is {}; nvidia-smi -rac lifts it", gpu, held,
                       usual);
  unsigned long long limits = 0;
  const bool is_held =
      limits_at_work_ != nullptr && limits_at_work_(handle, &limits) == kTold && (limits & kHeldByUser) != 0;
  return is_held ? fmt::format(
                       "the clocks of GPU {} are limited by a setting; nvidia-smi -rac and -rgc lift it", gpu)
                 : "";
}

std::vector<std::string> Nvml::warnings_of(int gpu) const {
  std::vector<std::string> warnings;
  const auto add = [&](std::string text) {
    if (!text.empty()) warnings.push_back(std::move(text));
  };
  const Handle handle = handles_.at(static_cast<std::size_t>(gpu));
  if (handle == nullptr) return warnings;
  add(users_warning(handle, gpu));
  unsigned is_sliced = 0, later = 0;
  if (slices_ != nullptr && slices_(handle, &is_sliced, &later) == kTold && is_sliced == 1)
    add(fmt::format("GPU {} is cut into slices (MIG), so its rates are those of a slice", gpu));
  if (count_processes(mps_processes_, handle) > 0)
    add(fmt::format("GPU {} is shared through MPS, which may limit its threads and its memory", gpu));
  add(clock_warning(handle, gpu));
  const unsigned power = number_of(power_, handle), usual_power = number_of(usual_power_, handle);
  if (power > 0 && power < usual_power)
    add(fmt::format("GPU {} may take {} W of its {} W, so long kernels run slower", gpu, power / 1000,
                    usual_power / 1000));
  return warnings;
}

}  // namespace foretrain::micro

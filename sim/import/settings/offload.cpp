// Reads offload to host memory and NVMe, as DeepSpeed, accelerate, Lightning and PyTorch's FSDP name it:
//
//   "offload_optimizer": {"device": "cpu", "pin_memory": true}     (DeepSpeed)
//   CPUOffloadPolicy(pin_memory=True)                               (FSDP2)
#include <fmt/format.h>

#include "sim/import/settings/offload_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// A key of a tool, and the option of the strategy.
struct DeviceRow {
  const char* path;
  const char* key;
};

/// Keys whose value is a device.
constexpr DeviceRow kDevices[] = {
    {"zero_optimization.offload_optimizer.device", "strategy.offload_optimizer"},
    {"zero_optimization.offload_param.device", "strategy.offload_param"},
    {"deepspeed_config.offload_optimizer_device", "strategy.offload_optimizer"},
    {"deepspeed_config.offload_param_device", "strategy.offload_param"}};

/// Flags of DeepSpeed before 0.3.16.
constexpr DeviceRow kFlags[] = {{"zero_optimization.cpu_offload", "strategy.offload_optimizer"},
                                {"zero_optimization.cpu_offload_params", "strategy.offload_param"},
                                {"zero_optimization.cpu_offload_param", "strategy.offload_param"},
                                {"zero_optimization.cpu_offload_use_pin_memory", "strategy.pin_memory"}};

/// Flags for page-locked memory; one of them is enough.
constexpr const char* kPinned[] = {"zero_optimization.offload_optimizer.pin_memory",
                                   "zero_optimization.offload_param.pin_memory"};

/// Returns whether parameters are to be offloaded below stage 3, which DeepSpeed refuses and older versions
/// ignore.
bool lacks_stage(SettingsReading& reading, const DeviceRow& row) {
  return std::string_view(row.key) == "strategy.offload_param" &&
         value_of(reading.out(), "strategy.name") != "\"zero3\"";
}

/// Reads a device: cpu, nvme or none.
void read_device(SettingsReading& reading, const DeviceRow& row) {
  const auto device = reading.word({row.path});
  if (!device) return;
  if (*device != "cpu" && *device != "none" && *device != "nvme")
    return reading.mistake(fmt::format("\"{}\" is no device of an offload", *device), "cpu, nvme or none");
  if (lacks_stage(reading, row))
    return reading.fate(KeyFate::no_influence, "only stage 3 offloads parameters");
  reading.effect({{row.key, toml_text(*device)}});
}

}  // namespace

/// Old flags and devices set the same options; of both in one file the later line wins (finish() sorts).
void read_deepspeed_offload(SettingsReading& reading) {
  for (const DeviceRow& row : kFlags) {
    const auto on = reading.flag({row.path});
    const bool is_device = std::string_view(row.key) != "strategy.pin_memory";
    if (!on) continue;
    if (lacks_stage(reading, row))
      reading.fate(KeyFate::no_influence, "only stage 3 offloads parameters");
    else
      reading.effect({{row.key, !is_device ? toml_flag(*on) : *on ? "\"cpu\"" : "\"none\""}});
  }
  for (const DeviceRow& row : kDevices) read_device(reading, row);
  for (const char* path : kPinned) {
    if (const auto pinned = reading.flag({path}))
      reading.effect({{"strategy.pin_memory", toml_flag(*pinned)}});
  }
}

/// The value is a flag in FSDP1's older form and in Lightning, otherwise a call.
void read_fsdp_offload(SettingsReading& reading, const std::string& path) {
  const YamlNode* node = reading.find({path});
  if (node != nullptr && node->kind == SettingKind::scalar) {
    // The value is a plain flag.
    if (const auto on = reading.flag({path})) reading.effect({{"strategy.offload_params", toml_flag(*on)}});
    return;
  }
  const std::string arguments = path + ".init_args.";
  const std::string kind = reading.word({path + ".class_path"}).value_or("");
  if (kind.empty()) return;
  // CPUOffload moves nothing unless it is told. CPUOffloadPolicy is FSDP2's; OffloadPolicy is its base, which
  // moves nothing.
  const bool is_policy = kind.ends_with("cpuoffloadpolicy");
  bool moves = is_policy;
  if (const auto said = reading.flag({arguments + "offload_params"})) {
    moves = *said;
    reading.fate(KeyFate::usual, "see the call");
  }
  reading.effect_of(path + ".class_path", {{"strategy.offload_params", toml_flag(moves)}});
  if (const auto pinned = reading.flag({arguments + "pin_memory"}))
    reading.effect({{"strategy.pin_memory", toml_flag(*pinned)}});
}

}  // namespace foretrain

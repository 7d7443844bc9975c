// Rows name algorithms and protocols as scenarios do: in lower case.
#include "calibrate/micro/plan/nccl_environment.hpp"

#include "sim/base/ascii.hpp"

namespace foretrain::micro {

Settings nccl_environment(const ReadVariable& read) {
  Settings found;
  for (const char* name : {"NCCL_ALGO", "NCCL_PROTO", "NCCL_MAX_NCHANNELS", "NCCL_MIN_NCHANNELS"}) {
    const char* value = read(name);
    if (value != nullptr && *value != '\0') found.emplace_back(name, value);
  }
  return found;
}

Settings nccl_settings(const Settings& environment) {
  Settings settings;
  for (const auto& [name, value] : environment) {
    if (name == "NCCL_ALGO") settings.emplace_back("nccl.algorithm", lower_case(value));
    if (name == "NCCL_PROTO") settings.emplace_back("nccl.protocol", lower_case(value));
    if (name == "NCCL_MAX_NCHANNELS") settings.emplace_back("nccl.max_channels", value);
    if (name == "NCCL_MIN_NCHANNELS") settings.emplace_back("nccl.min_channels", value);
  }
  return settings;
}

}  // namespace foretrain::micro

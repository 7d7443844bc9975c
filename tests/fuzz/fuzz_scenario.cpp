// Fuzz target: scenario files from any bytes, the part after a NUL byte as one --set; mistakes must come as
// InputError, nothing else. Names with a slash or ".toml" would open files of the machine, so such inputs are
// passed over, except for the known catalogs.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/scenario/scenario.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find('/') != std::string::npos || text.find(".toml") != std::string::npos ||
      text.find('\\') != std::string::npos)
    return 0;
  foretrain::ScenarioOverrides overrides;
  if (const auto end = text.find('\0'); end != std::string::npos) {
    overrides.settings.push_back(text.substr(end + 1));
    text.resize(end);
  }
  try {
    const foretrain::Scenario scenario = foretrain::read_scenario({"fuzz.toml", text}, overrides);
    if (scenario.gpus.empty() || scenario.workload.model == nullptr) std::abort();
  } catch (const foretrain::InputError& error) {
    if (error.diagnostics().empty()) std::abort();
  }
  return 0;
}

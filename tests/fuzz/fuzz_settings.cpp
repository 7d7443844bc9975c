// Fuzz target: training settings of other tools, in every format, from any bytes.
#include <cstdint>
#include <string>

#include "sim/import/settings/readers.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const SourceText source{"fuzz", std::string(reinterpret_cast<const char*>(data), size)};
  const bool known = is_settings(source);
  try {
    const TrainingSettings settings = read_settings(source, {8, nullptr, nullptr});
    test::require(known && !settings.format.empty());
    for (const ReadKey& key : settings.keys) {
      test::require((key.fate == KeyFate::effect) == !key.effects.empty());
      for (const SettingEffect& effect : key.effects)
        test::require(!effect.value.empty() && effect.key.find('.') != std::string::npos);
    }
    for (const SettingEffect& effect : scenario_keys(settings))
      test::require(said_by(settings, effect.key) != nullptr);
    notes_of(settings);
  } catch (const InputError& error) {
    test::require(!error.diagnostics().empty());
  }
  return 0;
}

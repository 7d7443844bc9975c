// Fuzz target: bytes as choices of a grammar that makes a whole valid scenario, which must be read and obey
// the laws of steps and timelines; what cannot be simulated is refused with a reason.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/require.hpp"
#include "tests/fuzz/scenarios/made_scenario.hpp"
#include "tests/fuzz/scenarios/step_laws.hpp"

namespace {

using namespace foretrain;
using namespace foretrain::test;

MadeScenario texts(std::span<const std::uint8_t> bytes, Units units) {
  Choices choices(bytes);
  return make_scenario_texts(choices, units);
}

/// For who looks into a finding: its files, and why it is refused.
bool is_shown() { return std::getenv("FORETRAIN_SHOW") != nullptr; }

void show(const MadeScenario& made) {
  if (!is_shown()) return;
  std::printf("# cluster\n%s\n# model\n%s\n# scenario\n%s", made.cluster.c_str(), made.model.c_str(),
              made.scenario.c_str());
  for (const std::string& setting : made.settings) std::printf("--set %s\n", setting.c_str());
  std::fflush(stdout);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MadeScenario made = texts({data, size}, Units::usual);
  show(made);
  try {
    const Scenario scenario = read_made(made), again = read_made(texts({data, size}, Units::others));
    try {
      check_step_laws(scenario);
      check_timeline_laws(scenario);
      check_same_step(scenario, again);
    } catch (const InputError& refused) {
      require(!refused.diagnostics().empty());
      if (is_shown()) std::printf("refused: %s\n", refused.what());
    }
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    law(false, "what the grammar makes is valid");
  }
  return 0;
}

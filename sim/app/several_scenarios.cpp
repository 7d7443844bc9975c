// A mistake in an option is the same for every scenario and is said once.
#include "sim/app/several_scenarios.hpp"

#include <algorithm>

namespace foretrain {

void read_scenarios(const std::vector<std::string>& names, const ScenarioOverrides& overrides,
                    const std::function<void(const NamedScenario&)>& read) {
  if (names.empty()) return read({});
  std::vector<Diagnostic> mistakes;
  for (const std::string& name : names) {
    try {
      read(open_scenario(name, overrides));
    } catch (const InputError& error) {
      for (const Diagnostic& mistake : error.diagnostics()) {
        const bool is_known = std::find(mistakes.begin(), mistakes.end(), mistake) != mistakes.end();
        if (!is_known && mistakes.size() < Diagnostics::kMostDiagnostics) mistakes.push_back(mistake);
      }
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

}  // namespace foretrain

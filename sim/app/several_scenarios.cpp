// A mistake in an option is the same for every scenario and is said once.
#include "sim/app/several_scenarios.hpp"

#include <algorithm>

#include "sim/app/named_scenario.hpp"

namespace foretrain {

void read_scenarios(const std::vector<std::string>& names, const std::function<void(const SourceText&)>& read) {
  if (names.empty()) return read({});
  std::vector<Diagnostic> mistakes;
  for (const std::string& name : names) {
    try {
      read(open_scenario(name));
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

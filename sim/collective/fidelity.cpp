// The closed form is the plan's own; the others play the plan's traffic.
#include "sim/collective/fidelity.hpp"

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

constexpr std::array<std::string_view, 3> kNames{"analytic", "flow", "chunk"};

}  // namespace

std::string_view name_of(Fidelity fidelity) { return kNames[static_cast<std::size_t>(fidelity)]; }

std::optional<Fidelity> find_fidelity(std::string_view name) {
  for (const Fidelity fidelity : kFidelities) {
    if (name_of(fidelity) == name) return fidelity;
  }
  return std::nullopt;
}

Time simulate(const Communicator&, const CollectivePlan& plan, Fidelity fidelity) {
  if (fidelity == Fidelity::analytic) return plan.alone;
  throw InputError(fmt::format("this version has no fidelity {} for collectives", name_of(fidelity)), "--fidelity analytic");
}

}  // namespace foretrain

// The level of detail of a collective: a closed form, flows that share links, or every chunk as an event.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/collective/communicator.hpp"

namespace foretrain {

/// The level of detail. analytic: by formula. flow: its flows share links by max-min fairness. chunk: every
/// chunk on every hop is an event.
enum class Fidelity : std::uint8_t { analytic, flow, chunk };
inline constexpr std::array<Fidelity, 3> kFidelities{Fidelity::analytic, Fidelity::flow, Fidelity::chunk};

/// Returns "analytic", "flow" or "chunk".
std::string_view name_of(Fidelity fidelity);
/// Returns the fidelity of this name, or nothing.
std::optional<Fidelity> find_fidelity(std::string_view name);

/// Returns the counterpart of CollectivePlan::alone at the given fidelity: one collective on an idle machine,
/// without the launch. Requires that the plan is one of this communicator. Throws InputError if chunk level
/// cannot represent the plan.
Time simulate(const Communicator& communicator, const CollectivePlan& plan, Fidelity fidelity);

}  // namespace foretrain

// How closely a collective is looked at: a closed form, flows that share links, or every chunk as an event.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/collective/communicator.hpp"

namespace foretrain {

/// How finely a collective is simulated. analytic: by formula. flow: its flows share links max-min fairly.
/// chunk: every chunk on every hop is an event.
enum class Fidelity : std::uint8_t { analytic, flow, chunk };
inline constexpr std::array<Fidelity, 3> kFidelities{Fidelity::analytic, Fidelity::flow, Fidelity::chunk};

/// "analytic", "flow", "chunk".
std::string_view name_of(Fidelity fidelity);
std::optional<Fidelity> find_fidelity(std::string_view name);

/// What CollectivePlan::alone is, at the given fidelity: one collective on an idle machine, without the
/// launch. The plan must be of this communicator. Throws InputError for a fidelity that is not there yet.
Time simulate(const Communicator& communicator, const CollectivePlan& plan, Fidelity fidelity);

}  // namespace foretrain

// Where the time of a recorded step went on its GPU: every nanosecond has one account.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/import/traces/trace_steps.hpp"

namespace foretrain {

/// docs/models/traces.md says what each means. The first four are work, the others are idle time by its
/// cause.
enum class TraceAccount : std::uint8_t {
  compute,        ///< a kernel runs that is neither communication nor the optimizer's
  optimizer,      ///< only kernels that the optimizer launched
  communication,  ///< exposed: the next kernel is launched or the host waits, and only a collective runs
  copy,           ///< only copies and fills run
  loading,        ///< no kernel runs, the host is fetching a batch
  host,           ///< no kernel runs, the host has not launched the next one yet
  launch,         ///< nothing runs, the next work is on its way, or its predecessor has just ended
  waiting,        ///< nothing runs, the next work was launched long ago and waits for an event
  unknown         ///< nothing runs, and the trace does not say when the next work was launched
};
inline constexpr std::size_t kTraceAccounts = 9;
inline constexpr std::array<std::string_view, kTraceAccounts> kTraceAccountNames{
    "compute", "optimizer", "communication", "copy", "loading", "host", "launch", "waiting", "unknown"};

/// Seconds of a step by account, which sum to its length.
struct StepAccount {
  std::array<double, kTraceAccounts> seconds{};
  double overlapped_s = 0;   ///< communication while other kernels run; part of their accounts
  double behind_host_s = 0;  ///< communication while the host is late; part of its account
  double length_s = 0;
  double of(TraceAccount account) const { return seconds[static_cast<std::size_t>(account)]; }
  double& of(TraceAccount account) { return seconds[static_cast<std::size_t>(account)]; }
  double idle_s() const;
};

/// A gap between two kernels up to this long is the GPU's own, not a wait, in ns.
inline constexpr std::int64_t kKernelGap = 10'000;

/// The accounts of each step on one GPU. `links` by start, of that GPU alone.
std::vector<StepAccount> account_steps(const Trace& trace, const std::vector<TraceLink>& links,
                                       const std::vector<TraceStep>& steps);

/// Element by element.
StepAccount mean_account(const std::vector<StepAccount>& accounts);

}  // namespace foretrain

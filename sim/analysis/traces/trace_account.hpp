// The accounts of a recorded step on its GPU: every nanosecond belongs to exactly one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/import/traces/trace_steps.hpp"

namespace foretrain {

/// The accounts (docs/models/imports.md). The first four are work, the others are idle time by its cause.
enum class TraceAccount : std::uint8_t {
  /// A kernel runs that is neither communication nor the optimizer's.
  compute,
  /// The optimizer's kernels run, and no others.
  optimizer,
  /// Exposed communication: only a collective runs, and the next kernel is launched already or the host
  /// waits.
  communication,
  /// Copies or fills run, and no kernels.
  copy,
  /// No kernel runs, and the host is fetching a batch.
  loading,
  /// No kernel runs, and the host has not launched the next one yet.
  host,
  /// Idle: the next work is on its way, or its predecessor has just ended.
  launch,
  /// Idle: the next work was launched long ago and waits for an event.
  waiting,
  /// Idle: the trace does not tell when the next work was launched.
  unknown
};
inline constexpr std::size_t kTraceAccounts = 9;
inline constexpr std::array<std::string_view, kTraceAccounts> kTraceAccountNames{
    "compute", "optimizer", "communication", "copy", "loading", "host", "launch", "waiting", "unknown"};

/// Seconds of a step by account, which sum to its length.
struct StepAccount {
  std::array<double, kTraceAccounts> seconds{};
  /// Communication while other kernels run; it is part of their accounts.
  double overlapped_s = 0;
  /// Communication while the host is late; it is part of the host's accounts.
  double behind_host_s = 0;
  double length_s = 0;
  double of(TraceAccount account) const { return seconds[static_cast<std::size_t>(account)]; }
  double& of(TraceAccount account) { return seconds[static_cast<std::size_t>(account)]; }
  /// Returns the idle time, from loading on.
  double idle_s() const;
};

/// Longest gap between two kernels, in ns, that is the GPU's own and not a wait.
inline constexpr std::int64_t kKernelGap = 10'000;

/// Returns the accounts of each step on one GPU. `links` must be in order of start and of that GPU alone.
std::vector<StepAccount> account_steps(const Trace& trace, const std::vector<TraceLink>& links,
                                       const std::vector<TraceStep>& steps);

/// Returns the mean of all accounts, element by element.
StepAccount mean_account(const std::vector<StepAccount>& accounts);

}  // namespace foretrain

// A recorded training in numbers: its steps with their accounts, kernels, operators, launches and
// collectives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/traces/trace_account.hpp"

namespace foretrain {

/// The kernels, copies or operators of one name over all steps.
struct TraceRow {
  std::string name;
  /// Kind of a kernel: "conv", "gemm", "communication", "copy", …; empty for operators.
  std::string kind;
  std::int64_t count = 0;
  /// Sum of their times on the GPU.
  double gpu_s = 0;
  /// Operators: time of the calls themselves on the host.
  double host_s = 0;
  /// Share of the sum over all kernels.
  double share = 0;
};

/// The launches of work on the GPU.
struct LaunchStatistics {
  /// Mean numbers of a step.
  double kernels = 0, copies = 0;
  /// Median time of a launch call.
  double call_us = 0;
  /// Time from the call's begin to the kernel's start: median and ninth decile.
  double delay_us = 0, delay_90_us = 0;
  /// Time of a step divided by its kernels.
  double host_per_kernel_us = 0;
  /// Kernels whose launch is not in the trace.
  std::int64_t without_launch = 0;
};

/// Collectives of one kind and size.
struct TraceCollectiveRow {
  std::string op;
  /// Bytes as nccl-tests counts them; 0 where the trace does not state them.
  std::int64_t bytes = 0;
  int ranks = 0;
  std::int64_t count = 0;
  double median_s = 0, least_s = 0;
  /// Bytes/s of the median call as nccl-tests computes busbw; 0 if unknown.
  double bus_rate = 0;
};

/// The summary of one GPU of one file.
struct TraceSummary {
  std::string file, gpu;
  int rank = -1, ranks = 0, device = 0;
  /// Steps that were found; if there are none, `accounts` is of the whole trace.
  TraceSteps steps;
  std::vector<StepAccount> accounts;
  StepAccount mean;
  /// Median step in seconds; 0 without steps.
  double typical_s = 0;
  /// Rows in descending order of time on the GPU.
  std::vector<TraceRow> kinds, kernels, operators;
  LaunchStatistics launches;
  std::vector<TraceCollectiveRow> collectives;
  /// Bytes of the gradients' all-reduces of the typical step, in their order.
  std::vector<std::int64_t> buckets;
  std::vector<std::string> notes;
  std::size_t step_count() const { return accounts.size(); }
};

/// Summarizes the GPU that works most. Throws InputError for a trace without work of a GPU.
TraceSummary summarize_trace(const Trace& trace);

/// Returns what a kernel of that name computes: "conv", "gemm", "attention", …; "other" where the name does
/// not tell.
std::string_view kernel_kind(std::string_view name);
/// Returns the distinguishing part of a kernel's name, without types, arguments and namespaces.
std::string short_kernel_name(std::string_view name);

/// Returns the bytes of a collective as nccl-tests counts them.
std::int64_t counted_bytes(const TraceCollective& collective);
/// Returns the factor from bytes/s to busbw; 0 for fewer than two ranks.
double bus_factor(std::string_view op, int ranks);

}  // namespace foretrain

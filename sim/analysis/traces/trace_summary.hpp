// What a recorded training did: its steps and their accounts, kernels, operators, launches, collectives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/traces/trace_account.hpp"

namespace foretrain {

/// Kernels, copies or operators of one name over all steps.
struct TraceRow {
  std::string name;
  std::string kind;  ///< of a kernel: "conv", "gemm", "communication", "copy", … of an operator: empty
  std::int64_t count = 0;
  double gpu_s = 0;   ///< sum of their times on the GPU
  double host_s = 0;  ///< of operators: time of the calls themselves
  double share = 0;   ///< of the sum over all kernels
};

/// How work gets to the GPU, per step where it says so.
struct LaunchStatistics {
  double kernels = 0, copies = 0;  ///< per step
  double call_us = 0;              ///< median time of a launch call
  double delay_us = 0,
         delay_90_us = 0;           ///< from the call's begin to the kernel's start: median, ninth decile
  double host_per_kernel_us = 0;    ///< time of the step over its kernels
  std::int64_t without_launch = 0;  ///< kernels whose launch is not in the trace
};

/// Collectives of one kind and size.
struct TraceCollectiveRow {
  std::string op;
  std::int64_t bytes = 0;  ///< as nccl-tests counts them; 0: the trace does not say
  int ranks = 0;
  std::int64_t count = 0;
  double median_s = 0, least_s = 0;
  double bus_rate = 0;  ///< bytes/s as nccl-tests computes busbw, of the median; 0: not known
};

/// One GPU of one file.
struct TraceSummary {
  std::string file, gpu;
  int rank = -1, ranks = 0, device = 0;
  TraceSteps steps;  ///< no steps: the trace as a whole is in `accounts`
  std::vector<StepAccount> accounts;
  StepAccount mean;
  double typical_s = 0;                             ///< median step; 0 without steps
  std::vector<TraceRow> kinds, kernels, operators;  ///< most time on the GPU first
  LaunchStatistics launches;
  std::vector<TraceCollectiveRow> collectives;
  std::vector<std::int64_t> buckets;  ///< bytes of the gradients' all-reduces of a step, in their order
  std::vector<std::string> notes;
  std::size_t step_count() const { return accounts.size(); }
};

/// Of the GPU that works most; throws InputError for a trace without work of a GPU.
TraceSummary summarize_trace(const Trace& trace);

/// "conv", "gemm", "attention", …: what a kernel of that name computes; "other" where it does not say.
std::string_view kernel_kind(std::string_view name);
/// What of the name tells it from others: without types, arguments and namespaces.
std::string short_kernel_name(std::string_view name);

/// Bytes of a collective as nccl-tests counts them, and the factor from bytes/s to busbw.
std::int64_t counted_bytes(const TraceCollective& collective);
double bus_factor(std::string_view op, int ranks);

}  // namespace foretrain

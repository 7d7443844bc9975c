// Writes the text of a recorded network. Host times are given for the reference CPU, so that a prediction
// takes those of the cluster's own host, without a profiler.
#include "sim/import/traces/traced_network.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/import/models/filled_text.hpp"
#include "sim/import/traces/recording_host.hpp"
#include "sim/import/traces/traced_parameters.hpp"

namespace foretrain {

namespace {

/// Returns a time in ns as text in us, at least 1 ns, because a model file has positive times.
std::string microseconds_text(double ns) { return fmt::format("\"{:.6g} us\"", std::max(ns * 1e-3, 0.001)); }

/// Returns the buffers of batch norms, whose averages DDP broadcasts. The trace has their total size, which
/// is divided evenly: two lists of floats and a counter for each norm.
std::string buffer_lines(const TracedStep& step) {
  std::int64_t norms = 0, floats = 0;
  for (const TracedOperator& op : step.operators)
    norms += !op.is_backward() && op.name.find("batch_norm") != std::string::npos ? 1 : 0;
  for (const TraceCollective& broadcast : step.broadcasts)
    floats += broadcast.element_bytes == 4 ? broadcast.in_elements : 0;
  if (norms == 0 || floats < 2 * norms) return "";
  std::string out = "buffers = [\n";
  for (std::int64_t i = 0; i < norms; ++i) {
    const std::int64_t each = floats / (2 * norms) + (i == 0 ? floats % (2 * norms) / 2 : 0);
    out += fmt::format("  {{ name = \"norm.{0}.mean\", size = \"f32[{1}]\" }},\n", i, each);
    out += fmt::format("  {{ name = \"norm.{0}.variance\", size = \"f32[{1}]\" }},\n", i, each);
    out += fmt::format("  {{ name = \"norm.{0}.batches\", size = \"i64[]\" }},\n", i);
  }
  return out + "]\n";
}

/// The host times of a file: those of a run without a profiler, or those of the recorded run itself.
enum class HostTimes : std::uint8_t { without_profiler, with_profiler };

/// Returns the host time of an operator in ns on the reference CPU.
double host_ns(const TracedOperator& op, const RecordingHost& host, HostTimes times) {
  const auto measured = static_cast<double>(op.host);
  const double per_op = host.per_op_us * 1e3;
  if (times == HostTimes::with_profiler) return (measured + per_op * op.beside) / host.slowdown;
  // Least share of a measured time: some calls cost the profiler less than the mean.
  constexpr double kLeast = 0.1;
  return std::max(measured - per_op * op.ops, kLeast * measured) / host.slowdown;
}

/// Returns the line of an operator; one without kernels is a view.
std::string operator_line(const TracedOperator& op, const std::vector<std::size_t>& ready, double host) {
  std::string out = fmt::format("  {{ op = \"{}\"", quotable(op.name));
  if (op.is_backward()) out += fmt::format(", pass = \"backward\", node = \"{}\"", quotable(op.node));
  if (op.kernels > 0)
    out +=
        fmt::format(", kernels = {}, time = {}", op.kernels, microseconds_text(static_cast<double>(op.gpu)));
  else
    out += ", view = true";
  out += fmt::format(", host = {}", microseconds_text(host));
  if (!ready.empty()) out += fmt::format(", ready = [{}]", fmt::join(ready, ", "));
  return out + " },\n";
}

/// Returns the list of operators, with the parameters whose gradients each one completes.
std::string operator_lines(const TracedStep& step, const TracedParameters& parameters,
                           const RecordingHost& host, HostTimes times) {
  std::string out = "operators = [\n";
  std::size_t next = 0;
  for (const TracedOperator& op : step.operators) {
    std::vector<std::size_t> ready;
    for (int i = 0; i < op.ready && next < parameters.of_ready.size(); ++i)
      ready.push_back(parameters.of_ready[next++]);
    out += operator_line(op, ready, host_ns(op, host, times));
  }
  return out + "]\n";
}

/// Returns the GPU's name: the user's, or the trace's. Drivers name some boards by the maker's number.
std::string gpu_name(const Trace& trace, const ModelImportOptions& options) {
  if (!options.gpu.empty()) return quotable(options.gpu);
  for (const auto& [board, gpu] :
       {std::pair{"PG509-200", "a100-sxm4-40gb"}, std::pair{"PG509-210", "a100-sxm4-80gb"}}) {
    if (trace.gpu.find(board) != std::string::npos) return gpu;
  }
  return quotable(trace.gpu);
}

/// Returns the precision by the names of kernels for products: the kind that has most of their time. The
/// names contain types (bf16, f16f16) or instructions of half precision (h884, h16816).
std::string precision_of(const Trace& trace) {
  std::int64_t all = 0, half = 0, brain = 0;
  for (const TraceEvent& event : trace.events) {
    if (event.kind != TraceKind::kernel) continue;
    const std::string& name = trace.name_of(event);
    const auto has = [&name](std::string_view word) { return name.find(word) != std::string::npos; };
    if (!has("gemm") && !has("conv") && !has("cutlass") && !has("wgrad") && !has("dgrad") && !has("fprop"))
      continue;
    all += event.duration;
    if (has("bf16"))
      brain += event.duration;
    else if (has("f16f16") || has("fp16") || has("h884") || has("h1688") || has("h16816") || has("hgemm"))
      half += event.duration;
  }
  if (2 * brain > all && all > 0) return "bf16";
  return 2 * half > all && all > 0 ? "amp_fp16" : "fp32";
}

/// Returns the first dimension of the first tensor that goes in; nothing where the trace has no shapes.
std::optional<std::int64_t> batch_of(const TracedStep& step) {
  for (const TracedOperator& op : step.operators) {
    if (op.in.empty()) continue;
    const std::string& size = op.in.front();
    const std::size_t open = size.find('[');
    const std::int64_t batch = elements_in(size.substr(0, size.find_first_of(",]", open)) + "]");
    return batch > 0 ? std::optional(batch) : std::nullopt;
  }
  return std::nullopt;
}

/// Adds remarks about what the network does not contain.
void say_what_is_missing(const TracedStep& step, std::vector<std::string>& remarks) {
  if (step.micro_steps > 1)
    remarks.push_back(
        fmt::format("the step has {} backward passes; the network is the first of them", step.micro_steps));
  if (step.after_backward > 0)
    remarks.push_back(fmt::format("{} behind backward that are not the optimizer's are left out",
                                  counted(static_cast<std::int64_t>(step.after_backward), "operator")));
  remarks.emplace_back(
      "memory is not in a trace: a prediction knows parameters, gradients and the optimizer's");
}

}  // namespace

std::string traced_name(const std::string& file, const ModelImportOptions& options) {
  if (!options.name.empty()) return quotable(options.name);
  std::string name = std::filesystem::path(file).filename().string();
  name = name.substr(0, name.find('.'));
  return quotable(name.empty() ? "traced" : name);
}

std::string traced_parameter_lines(const TracedParameters& parameters) {
  std::string out = "parameters = [\n";
  for (std::size_t i = 0; i < parameters.sizes.size(); ++i)
    out += fmt::format("  {{ name = \"parameter.{}\", size = \"{}\" }},\n", i, parameters.sizes[i]);
  return out + "]\n";
}

namespace {

/// Returns everything above the lists.
std::string head_of(const Trace& trace, const TracedStep& step, std::int64_t batch,
                    const ModelImportOptions& options, const std::vector<std::string>& remarks) {
  const std::string name = traced_name(trace.file, options);
  const std::string optimizer = optimizer_called(step.optimizer_name, step.optimizer_scales);
  std::string out = fmt::format("# Recorded by torch.profiler: the typical step of {}.\n", name);
  for (const std::string& remark : remarks) out += fmt::format("# {}\n", remark);
  out += fmt::format("description = \"{}, traced\"\n", name);
  if (!optimizer.empty()) out += fmt::format("optimizer = \"{}\"\n", optimizer);
  out += fmt::format("\n[recorded]\nformat = 1\nby = \"torch.profiler\"\nbatch = {}\ngrows = false\n", batch);
  return out +
         fmt::format("gpu = \"{}\"\nprecision = \"{}\"\n", gpu_name(trace, options), precision_of(trace));
}

/// Returns the typical step. Reports every reason why it makes no network; throws where there is no step.
TracedStep checked_step(const Trace& trace, Diagnostics& diagnostics) {
  const TraceSteps steps = find_steps(trace);
  if (steps.steps.empty())
    diagnostics.report({}, "has no training steps",
                       "call prof.step() behind each step, which marks it (ProfilerStep#), and record two");
  diagnostics.throw_if_any();
  TracedStep step = traced_step(trace, steps);
  if (std::ranges::none_of(step.operators, &TracedOperator::is_backward))
    diagnostics.report({}, "has no backward pass in its steps", "record a training step, with backward()");
  return step;
}

/// Makes the network; `slowdown` is set to that of the recording host. Problems are collected, then thrown.
ImportedModel network_of(const Trace& trace, const ModelImportOptions& options, HostTimes times,
                         double& slowdown) {
  const SourceText source{trace.file, ""};
  Diagnostics diagnostics(source);
  const TracedStep step = checked_step(trace, diagnostics);
  const std::optional<std::int64_t> batch = options.batch ? options.batch : batch_of(step);
  if (!batch)
    diagnostics.report({}, "does not say how large the batch was",
                       "record with record_shapes=True, or say it, as in --batch 32");
  if (trace.gpu.empty() && options.gpu.empty())
    diagnostics.report({}, "does not say which GPU it was", "say it, as in --gpu a100-sxm4-40gb");
  const TracedParameters parameters = traced_parameters(step, options, diagnostics);
  diagnostics.throw_if_any();
  ImportedModel out;
  out.remarks = parameters.remarks;
  say_what_is_missing(step, out.remarks);
  const RecordingHost host = recording_host(step);
  slowdown = host.slowdown;
  out.text = head_of(trace, step, *batch, options, out.remarks);
  out.text += fmt::format(
      "# Host times are those of the reference CPU: this host takes {:.3g} times as long, and its profiler "
      "took\n"
      "# {:.3g} us more for each operator that it recorded.\n",
      host.slowdown, host.per_op_us);
  out.text += traced_parameter_lines(parameters) + buffer_lines(step);
  out.text += operator_lines(step, parameters, host, times);
  return out;
}

}  // namespace

ImportedModel traced_network(const Trace& trace, const ModelImportOptions& options) {
  double slowdown = 1;
  return network_of(trace, options, HostTimes::without_profiler, slowdown);
}

ImportedModel profiled_network(const Trace& trace, const ModelImportOptions& options, double& slowdown) {
  return network_of(trace, options, HostTimes::with_profiler, slowdown);
}

ImportedModel traced_network(const TraceFile& file, const ModelImportOptions& options) {
  return file.timed ? traced_network(*file.timed, options) : traced_network(*file.executions, options);
}

}  // namespace foretrain

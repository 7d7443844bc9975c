// Collects the operators of a recorded step. Forward is what the main thread calls before backward begins;
// backward are the nodes that autograd's engine evaluates. DDP's work is known by its place: before the first
// differentiable operator, and behind the accumulation of a gradient.
#include "sim/import/traces/traced_step.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sim/import/traces/execution_trace.hpp"

namespace foretrain {

namespace {

bool is_node(const std::string& name) { return name.starts_with(kEnginePrefix); }
bool is_accumulation(const std::string& name) {
  return is_node(name) && std::string_view(name).substr(kEnginePrefix.size()) == kAccumulateGrad;
}
/// A call that no other operator is around, with what matters inside of it. Times in ns.
struct OuterCall {
  std::uint32_t event = 0;
  // Innermost mark of the user around it.
  std::uint32_t mark = TraceLink::kNone;
  // Time in it that waits for the GPU.
  std::int64_t waits = 0;
  // End of the accumulation of a gradient in it; 0: none.
  std::int64_t accumulated = 0;
  // Start of the first communication within it; 0: none.
  std::int64_t first_communication = 0;
  // Inner operator that has a formula.
  std::uint32_t main_inner = TraceLink::kNone;
  // Operators recorded in it, itself included.
  int ops = 1;
  // Operators among these that run behind the accumulation of a gradient.
  int hook_ops = 0;
  // Size of the accumulated gradient.
  std::string sizes;
};

/// Outermost calls by thread.
using CallsByLane = std::map<std::uint16_t, std::vector<OuterCall>>;

CallsByLane outer_calls(const Trace& trace, const TraceSteps& steps) {
  CallsByLane out;
  std::vector<std::vector<std::uint32_t>> marks(trace.lanes.size());
  const std::int64_t begin = steps.steps.front().begin, end = steps.steps.back().end;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    if (is_device(event.kind) || event.start < begin || event.start >= end) continue;
    const std::string& name = trace.name_of(event);
    std::vector<std::uint32_t>& open = marks[event.lane];
    while (!open.empty() && trace.events[open.back()].end() <= event.start) open.pop_back();
    if (event.kind == TraceKind::annotation && !is_step_mark(name) && !is_communication_call(name))
      open.push_back(i);
    std::vector<OuterCall>& calls = out[event.lane];
    OuterCall* around =
        !calls.empty() && trace.events[calls.back().event].end() > event.start ? &calls.back() : nullptr;
    if (around != nullptr) {
      if (event.kind == TraceKind::sync) around->waits += event.duration;
      if (is_communication_call(name) && around->first_communication == 0)
        around->first_communication = event.start;
      if (event.kind != TraceKind::op) continue;
      ++around->ops;
      around->hook_ops += around->accumulated > 0 && event.start >= around->accumulated ? 1 : 0;
      if (name == kAccumulateGrad) {
        around->accumulated = event.end();
        if (event.detail > 0) around->sizes = trace.names.at(event.detail - 1);
      }
      if (around->main_inner == TraceLink::kNone && is_known_inner(name)) around->main_inner = i;
    } else if (event.kind == TraceKind::op) {
      OuterCall call;
      call.event = i;
      call.mark = open.empty() ? TraceLink::kNone : open.back();
      if (is_communication_call(name)) call.first_communication = event.start;
      calls.push_back(std::move(call));
    }
  }
  return out;
}

/// The work that a call launched: time on the GPU in ns, and kernels.
struct CallWork {
  std::int64_t gpu = 0;
  int kernels = 0;
  // Only copies from the host, which the input pipeline accounts for.
  bool only_loads = true;
};

class StepCollector {
 public:
  StepCollector(const Trace& trace, const TraceSteps& steps)
      : trace_(trace), calls_(outer_calls(trace, steps)), links_(link_activities(trace)) {
    std::map<std::uint16_t, std::size_t> nodes, differentiable;
    for (const auto& [lane, calls] : calls_) {
      for (const OuterCall& call : calls) {
        const TraceEvent& event = trace_.events[call.event];
        if (is_node(trace_.name_of(event)))
          ++nodes[lane];
        else if (event.sequence >= 0)
          ++differentiable[lane];
      }
    }
    const auto most = [](const auto& counts) {
      const auto row = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
      return row == counts.end() ? std::uint16_t{0xFFFF} : row->first;
    };
    backward_lane_ = most(nodes);
    main_lane_ = differentiable.empty() ? (calls_.empty() ? 0 : calls_.begin()->first) : most(differentiable);
    for (const TraceLink& link : links_) count_work(link);
  }

  TracedStep collect(const TraceStep& step) {
    out_ = {};
    const std::vector<const OuterCall*> nodes = in_step(backward_lane_, step, true);
    std::vector<const OuterCall*> calls = in_step(main_lane_, step, false);
    const std::int64_t begin = nodes.empty() ? step.end : start_of(*nodes.front());
    const std::int64_t stop = end_of_first_pass(calls, nodes, begin, step.end);
    forward(calls, nodes, begin);
    backward(nodes, stop);
    collectives(step);
    optimizer(calls, nodes, step);
    if (!out_.operators.empty()) out_.operators.back().beside += behind_backward(calls, nodes, step, stop);
    return std::move(out_);
  }

 private:
  std::int64_t start_of(const OuterCall& call) const { return trace_.events[call.event].start; }
  std::int64_t end_of(const OuterCall& call) const { return trace_.events[call.event].end(); }
  const std::string& name_of(const OuterCall& call) const {
    return trace_.name_of(trace_.events[call.event]);
  }
  bool is_marked(const OuterCall& call, bool (*test)(std::string_view)) const {
    return call.mark != TraceLink::kNone && test(trace_.name_of(trace_.events[call.mark]));
  }

  void count_work(const TraceLink& link) {
    if (link.outer == TraceLink::kNone) return;
    const TraceEvent& event = trace_.events[link.activity];
    const std::string& name = trace_.name_of(event);
    if (is_collective_kernel(name)) return;
    launched_[link.outer].push_back(&link);
  }

  /// Returns the work that a call launched before `until` (0: all of it).
  CallWork work_in(std::uint32_t call, std::int64_t until) const {
    CallWork out;
    const auto found = launched_.find(call);
    if (found == launched_.end()) return out;
    for (const TraceLink* link : found->second) {
      const TraceEvent& event = trace_.events[link->activity];
      if (until > 0 && asked_at(trace_, *link) >= until) continue;
      out.gpu += event.duration;
      ++out.kernels;
      out.only_loads &=
          event.kind == TraceKind::memcpy && trace_.name_of(event).find("HtoD") != std::string::npos;
    }
    return out;
  }

  std::vector<const OuterCall*> in_step(std::uint16_t lane, const TraceStep& step, bool nodes) const {
    std::vector<const OuterCall*> out;
    const auto found = calls_.find(lane);
    if (found == calls_.end()) return out;
    for (const OuterCall& call : found->second) {
      if (start_of(call) >= step.begin && start_of(call) < step.end && is_node(name_of(call)) == nodes)
        out.push_back(&call);
    }
    return out;
  }

  /// Returns where the next forward pass begins, if the step has several micro-steps; otherwise its end.
  std::int64_t end_of_first_pass(const std::vector<const OuterCall*>& calls,
                                 const std::vector<const OuterCall*>& nodes, std::int64_t begin,
                                 std::int64_t end) {
    std::int64_t stop = end;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const std::int64_t from = end_of(*nodes[i]), to = start_of(*nodes[i + 1]);
      const bool is_between = std::ranges::any_of(calls, [&](const OuterCall* call) {
        return start_of(*call) >= from && end_of(*call) <= to && trace_.events[call->event].sequence >= 0 &&
               start_of(*call) > begin;
      });
      if (!is_between) continue;
      stop = std::min(stop, from);
      ++out_.micro_steps;
    }
    return stop;
  }

  void forward(const std::vector<const OuterCall*>& calls, const std::vector<const OuterCall*>& nodes,
               std::int64_t begin) {
    std::vector<std::int32_t> sequences;
    for (const OuterCall* node : nodes) sequences.push_back(trace_.events[node->event].sequence);
    std::ranges::sort(sequences);
    std::vector<const OuterCall*> chosen;
    // Recorded calls that are not the network's.
    int others = 0;
    for (const OuterCall* call : calls) {
      if (start_of(*call) >= begin) break;
      others += call->ops;
      if (is_marked(*call, is_optimizer_mark) || is_marked(*call, is_zero_grad_mark) ||
          is_marked(*call, is_loading_mark))
        continue;
      if (call->first_communication > 0) {
        chosen.clear();  // DDP's broadcast of buffers, and what stands before it
        continue;
      }
      chosen.push_back(call);
    }
    drop_before_differentiable(chosen, sequences, calls);
    for (const OuterCall* call : chosen) others -= call->ops;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const OuterCall& call = *chosen[i];
      const CallWork work = work_in(call.event, 0);
      if (work.kernels > 0 && work.only_loads) continue;
      TracedOperator op = operator_of(call, work);
      const std::int64_t next = next_start(call, i + 1 < chosen.size() ? start_of(*chosen[i + 1]) : 0);
      op.host = std::max<std::int64_t>(0, next - start_of(call) - call.waits);
      op.ops = call.ops;
      op.beside = std::exchange(others, 0);
      out_.operators.push_back(std::move(op));
    }
  }

  /// In a step with DDP, drops copies out of the broadcast: they come before the first operator that backward
  /// knows.
  void drop_before_differentiable(std::vector<const OuterCall*>& chosen,
                                  const std::vector<std::int32_t>& sequences,
                                  const std::vector<const OuterCall*>& calls) const {
    const bool has_ddp =
        std::ranges::any_of(calls, [](const OuterCall* call) { return call->first_communication > 0; });
    if (!has_ddp) return;
    const auto first = std::ranges::find_if(chosen, [&](const OuterCall* call) {
      const std::int32_t sequence = trace_.events[call->event].sequence;
      return sequence >= 0 && std::ranges::binary_search(sequences, sequence);
    });
    if (first != chosen.end()) chosen.erase(chosen.begin(), first);
  }

  /// Returns when the thread came to its next call; a longer pause than kLongestPython is not the call's.
  std::int64_t next_start(const OuterCall& call, std::int64_t next) const {
    const std::int64_t own_end = end_of(call);
    if (next <= own_end) return own_end;
    constexpr std::int64_t kLongestPython = 1'000'000;  // longer is something else: a log, a print, a wait
    return next - own_end > kLongestPython ? own_end : next;
  }

  TracedOperator operator_of(const OuterCall& call, const CallWork& work) const {
    TracedOperator op;
    const std::uint32_t inner = call.main_inner == TraceLink::kNone ? call.event : call.main_inner;
    const TraceEvent& named = trace_.events[inner];
    op.name = trace_.name_of(named);
    if (is_node(name_of(call))) {
      op.node = name_of(call).substr(kEnginePrefix.size());
      if (inner == call.event) op.name = op.node;
    }
    if (named.detail > 0) op.in = sizes_in(trace_.names.at(named.detail - 1));
    op.gpu = work.gpu;
    op.kernels = work.kernels;
    return op;
  }

  void backward(const std::vector<const OuterCall*>& nodes, std::int64_t stop) {
    for (std::size_t i = 0; i < nodes.size() && start_of(*nodes[i]) < stop; ++i) {
      const OuterCall& call = *nodes[i];
      const bool accumulates = is_accumulation(name_of(call));
      // Hooks run behind the accumulation: they are DDP's.
      const bool has_hook = accumulates && call.accumulated > 0 && call.accumulated < end_of(call) - 1000;
      const CallWork work = work_in(call.event, has_hook ? call.accumulated : 0);
      const std::int64_t next = next_start(call, i + 1 < nodes.size() ? start_of(*nodes[i + 1]) : 0);
      const std::int64_t hook = has_hook && is_hooked(call) ? end_of(call) - call.accumulated : 0;
      const std::int64_t host = std::max<std::int64_t>(0, next - start_of(call) - call.waits - hook);
      if (!accumulates) {
        out_.operators.push_back(operator_of(call, work));
        out_.operators.back().host = host;
        out_.operators.back().ops = call.ops;
        continue;
      }
      if (out_.operators.empty() || !out_.operators.back().is_backward()) continue;
      TracedOperator& op = out_.operators.back();
      op.host += host;
      op.gpu += work.gpu;
      op.kernels += work.kernels;
      op.ops += call.ops - (hook > 0 ? call.hook_ops : 0);
      op.beside += hook > 0 ? call.hook_ops : 0;
      ++op.ready;
      op.ready_sizes.push_back(call.sizes);
    }
  }

  /// Counts recorded calls behind the last node: DDP's, and the optimizer's.
  int behind_backward(const std::vector<const OuterCall*>& calls, const std::vector<const OuterCall*>& nodes,
                      const TraceStep& step, std::int64_t stop) const {
    int out = 0;
    const std::int64_t end = nodes.empty() ? step.end : end_of(*nodes.back());
    for (const OuterCall* call : calls) {
      if (start_of(*call) >= std::min(stop, end)) out += call->ops;
    }
    if (backward_lane_ == main_lane_) return out;
    for (const OuterCall* call : in_step(backward_lane_, step, false)) out += call->ops;
    return out;
  }

  bool is_hooked(const OuterCall& call) const { return call.first_communication >= call.accumulated; }

  void collectives(const TraceStep& step) {
    int gradients = 0;
    std::vector<std::int64_t> ready;
    const auto nodes = in_step(backward_lane_, step, true);
    for (const OuterCall* node : nodes) {
      if (is_accumulation(name_of(*node))) ready.push_back(start_of(*node));
    }
    for (const TraceLink& link : links_) {
      const TraceEvent& event = trace_.events[link.activity];
      const std::int64_t asked = asked_at(trace_, link);
      if (event.kind != TraceKind::kernel || event.detail == 0 || asked < step.begin || asked >= step.end)
        continue;
      const TraceCollective& said = trace_.collectives[event.detail - 1];
      if (said.op == "broadcast" && (ready.empty() || asked < ready.front())) out_.broadcasts.push_back(said);
      if (said.op != "all_reduce" || said.in_bytes() <= 64) continue;
      const auto so_far = static_cast<int>(std::ranges::lower_bound(ready, asked) - ready.begin());
      out_.buckets.emplace_back(so_far - gradients, said.in_bytes());
      gradients = so_far;
    }
  }

  void optimizer(const std::vector<const OuterCall*>& calls, const std::vector<const OuterCall*>& nodes,
                 const TraceStep& step) {
    const std::int64_t end = nodes.empty() ? step.begin : end_of(*nodes.back());
    for (const OuterCall* call : calls) {
      if (is_marked(*call, is_optimizer_mark)) {
        const CallWork work = work_in(call->event, 0);
        out_.optimizer.gpu += work.gpu;
        out_.optimizer.kernels += work.kernels;
        const TraceEvent& event = trace_.events[call->event];
        const std::string& name = trace_.name_of(event);
        out_.optimizer_scales |= name == "aten::_foreach_mul_" || name == "aten::mul_";
        if (event.detail > 0) out_.update_sizes.push_back(sizes_in(trace_.names.at(event.detail - 1)));
      } else if (start_of(*call) >= end && !is_marked(*call, is_zero_grad_mark) &&
                 !is_marked(*call, is_loading_mark) && call->first_communication == 0) {
        ++out_.after_backward;
      }
    }
    for (const TraceEvent& event : trace_.events) {
      if (event.kind != TraceKind::annotation || event.start < step.begin || event.start >= step.end)
        continue;
      const std::string& name = trace_.name_of(event);
      if (!is_optimizer_mark(name)) continue;
      out_.optimizer.host += event.duration;
      constexpr std::string_view kMark = "Optimizer.step#";
      out_.optimizer_name = name.substr(kMark.size(), name.find('.', kMark.size()) - kMark.size());
    }
  }

  const Trace& trace_;
  CallsByLane calls_;
  std::vector<TraceLink> links_;
  std::unordered_map<std::uint32_t, std::vector<const TraceLink*>> launched_;
  std::uint16_t main_lane_ = 0, backward_lane_ = 0;
  TracedStep out_;
};

bool runs_the_same(const TracedStep& a, const TracedStep& b) {
  return std::ranges::equal(a.operators, b.operators, {}, &TracedOperator::name, &TracedOperator::name);
}

std::int64_t median_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

TracedStep traced_step(const Trace& trace, const TraceSteps& steps) {
  StepCollector collector(trace, steps);
  TracedStep out = collector.collect(*typical_step(steps));
  std::vector<TracedStep> alike;
  constexpr std::size_t kMostCompared = 50;
  for (std::size_t i = 0; i < std::min(steps.steps.size(), kMostCompared); ++i) {
    TracedStep step = collector.collect(steps.steps[i]);
    if (runs_the_same(step, out)) alike.push_back(std::move(step));
  }
  for (std::size_t op = 0; op < out.operators.size() && !alike.empty(); ++op) {
    std::vector<std::int64_t> gpu, host;
    for (const TracedStep& step : alike) {
      gpu.push_back(step.operators[op].gpu);
      host.push_back(step.operators[op].host);
    }
    out.operators[op].gpu = median_of(std::move(gpu));
    out.operators[op].host = median_of(std::move(host));
  }
  return out;
}

}  // namespace foretrain

// Writes a step of a pipeline as a trace. A stage is a process with tracks for the step, for passes (with
// waits for their messages nested), for messages, for gradients, and for each sort of work inside passes of
// the first micro-batch.
#include "sim/report/prediction/parallel_trace.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/report/prediction/trace_events.hpp"

namespace foretrain {

namespace {

// Tracks of a stage. Messages of both directions may be in flight at once, so each direction has its own.
enum Track : std::size_t {
  kStep = 1,
  kPasses,
  kActivationsSent,
  kGradientsSent,
  kActivationsReceived,
  kGradientsReceived,
  kReduction,
  kInside = 10
};

// Sorts of work inside a pass, in the order of PassCharge.
constexpr std::string_view kChargeNames[] = {
    "kernels", "host", "tensor exchanges", "context exchanges", "expert exchanges", "sharded parameters"};

/// Returns a number for the arguments of a span.
std::string number(double value) { return fmt::format("{:.3f}", value); }

// Builds the trace of one step.
class ParallelTrace {
 public:
  explicit ParallelTrace(const LargeStepRecord& record)
      : record_(record), stages_(record.job.degrees.pipeline) {}
  std::string write();

 private:
  /// Returns true when the stage is part of the trace.
  bool shows(int stage) const { return stage < first_ || stage >= stages_ - last_; }
  void choose_stages();
  void name_stage(int stage);
  void add_pass(const StageSpan& span);
  void add_parts(const StageSpan& span, double layers_s, double wait_s);
  void add_inside(const StageSpan& span, const std::vector<PassSpan>& inside);
  void add_end(const StageSpan& span);
  void add_message(const StageMessage& message);
  void add_gap(int stage);
  void span(int stage, std::size_t track, const std::string& name, std::string_view category, double begin_s,
            double end_s, const TraceArguments& arguments = {});

  const LargeStepRecord& record_;
  int stages_;
  // Number of shown stages at each end of the pipeline.
  int first_ = 0, last_ = 0;
  TraceEvents events_;
  std::vector<std::string> notes_;
  // Tracks that have any span; only these get a name.
  std::set<std::pair<int, std::size_t>> tracks_;
};

// Stages in the middle are left out when there are too many spans, since the first and the last ones differ
// most.
void ParallelTrace::choose_stages() {
  const std::size_t each =
      (record_.spans.size() + 2 * record_.messages.size()) / static_cast<std::size_t>(stages_) + 1;
  const auto enough = static_cast<int>(std::max<std::size_t>(2, kMostTracedSpans / each));
  const int shown = std::min(enough, stages_);
  first_ = (shown + 1) / 2, last_ = shown - first_;
  if (shown < stages_)
    notes_.push_back(
        fmt::format("{} of {} stages are left out, those in the middle", stages_ - shown, stages_));
}

void ParallelTrace::span(int stage, std::size_t track, const std::string& name, std::string_view category,
                         double begin_s, double end_s, const TraceArguments& arguments) {
  if (!shows(stage)) return;
  tracks_.insert({stage, track});
  events_.span(stage + 1, track, name, category, seconds(begin_s), seconds(end_s), arguments);
}

// Ranks of a stage are alike, so one of them is shown.
void ParallelTrace::name_stage(int stage) {
  const Degrees& d = record_.job.degrees;
  const int ranks = d.tensor * d.context * d.data;
  const StageReport& own = record_.step.stages[static_cast<std::size_t>(stage)];
  events_.process_name(stage + 1,
                       fmt::format("stage {}: {}{}{}, rank {}{}", stage, own.embedding ? "embedding, " : "",
                                   counted(own.layers, "layer"), own.head ? ", head" : "", stage * ranks,
                                   ranks > 1 ? fmt::format(" (stands for {})", counted(ranks, "rank")) : ""));
  static const std::map<std::size_t, std::string> kNames{{kStep, "step"},
                                                         {kPasses, "passes"},
                                                         {kActivationsSent, "activations sent"},
                                                         {kGradientsSent, "gradients sent"},
                                                         {kActivationsReceived, "activations received"},
                                                         {kGradientsReceived, "gradients received"},
                                                         {kReduction, "gradients of data-parallel ranks"}};
  for (const auto& [track, name] : kNames)
    if (tracks_.contains({stage, track})) events_.thread_name(stage + 1, track, name);
  for (std::size_t charge = 0; charge < std::size(kChargeNames); ++charge)
    if (tracks_.contains({stage, kInside + charge}))
      events_.thread_name(stage + 1, kInside + charge,
                          fmt::format("first micro-batch: {}", kChargeNames[charge]));
}

// Behind its layers, a pass may wait until its own message is sent and until the host wakes up.
void ParallelTrace::add_parts(const StageSpan& own, double layers_s, double wait_s) {
  const double sent = own.begin_s + layers_s, woken = std::min(own.end_s, sent + wait_s);
  if (wait_s > 0) span(own.stage, kPasses, "waits for its message", "wait", sent, woken);
  if (own.end_s > woken && layers_s < own.end_s - own.begin_s)
    span(own.stage, kPasses, "host wakes up", "host", woken, own.end_s);
}

// The parts are relative to the start of the pass.
void ParallelTrace::add_inside(const StageSpan& own, const std::vector<PassSpan>& inside) {
  for (const PassSpan& part : inside)
    span(own.stage, kInside + static_cast<std::size_t>(part.charge), part.name,
         part.charge == PassCharge::compute ? "kernel" : "collective", own.begin_s + part.begin_s,
         own.begin_s + part.end_s);
}

// 'F' is a forward pass, 'B' a backward pass, 'W' the gradients of weights when backward is split.
void ParallelTrace::add_pass(const StageSpan& own) {
  const RecordedChunk& chunk = record_.chunks[static_cast<std::size_t>(own.chunk)];
  const bool is_forward = own.work == 'F', is_weights = own.work == 'W';
  const PassTime& time = is_forward ? chunk.forward : chunk.backward;
  const std::string what = is_forward ? "forward" : is_weights ? "weight gradients" : "backward";
  const bool is_whole = is_forward || !record_.splits_backward;
  TraceArguments arguments{{"micro_batch", std::to_string(own.micro_batch)},
                           {"chunk", std::to_string(own.chunk)},
                           {"layers", std::to_string(chunk.chunk.layers)}};
  if (is_whole) {
    arguments.emplace_back("compute_us", number(1e6 * time.compute));
    arguments.emplace_back("host_us", number(1e6 * time.host));
    arguments.emplace_back("exposed_us",
                           number(1e6 * (time.tensor + time.context + time.expert + time.data)));
  }
  const std::string chunk_text =
      record_.chunks.size() > static_cast<std::size_t>(stages_) ? fmt::format(", chunk {}", own.chunk) : "";
  span(own.stage, kPasses, fmt::format("{} {}{}", what, own.micro_batch, chunk_text), what, own.begin_s,
       own.end_s, arguments);
  if (!is_whole) return;
  // Passes that run concurrently have the time of both, and wait for nothing of their own.
  if (chunk.forward_wait_s + chunk.forward_host_s + chunk.backward_wait_s + chunk.backward_host_s > 0)
    add_parts(own, time.total, is_forward ? chunk.forward_wait_s : chunk.backward_wait_s);
  if (own.micro_batch == 0) add_inside(own, is_forward ? chunk.spans.forward : chunk.spans.backward);
}

// The end of a step: communication that is not overlapped, then the optimizer.
void ParallelTrace::add_end(const StageSpan& own) {
  const RecordedEnd& end = record_.ends[static_cast<std::size_t>(own.stage)];
  const double update = own.begin_s + end.behind_s;
  if (end.behind_s > 0)
    span(own.stage, kPasses, "exchanges that nothing hides", "collective", own.begin_s, update);
  span(own.stage, kPasses, "optimizer", "optimizer", update, own.end_s);
}

// A message is shown at its sender and at its receiver.
void ParallelTrace::add_message(const StageMessage& m) {
  const std::string what = fmt::format("{} {}", m.is_forward ? "activations" : "gradients", m.micro_batch);
  span(m.from, m.is_forward ? kActivationsSent : kGradientsSent, fmt::format("{} to stage {}", what, m.to),
       "send", m.begin_s, m.end_s);
  span(m.to, m.is_forward ? kActivationsReceived : kGradientsReceived,
       fmt::format("{} from stage {}", what, m.from), "receive", m.begin_s, m.end_s);
}

// The gap lies between the last pass before the cut and the first one behind it.
void ParallelTrace::add_gap(int stage) {
  double before = 0, behind = record_.step.step_s;
  for (const StageSpan& own : record_.spans) {
    if (own.stage != stage || own.work == 'D') continue;
    if (own.begin_s < record_.cut_s)
      before = std::max(before, own.end_s);
    else
      behind = std::min(behind, own.begin_s);
  }
  span(stage, kPasses, fmt::format("{} more, alike, not shown", counted(record_.left_out, "micro-batch")),
       "left out", before, behind);
}

// 'O' is the end of the step and 'D' the reduction of gradients over data-parallel ranks.
std::string ParallelTrace::write() {
  choose_stages();
  if (record_.left_out > 0)
    notes_.push_back(fmt::format("{} of {} micro-batches in the middle are left out, which are alike",
                                 record_.left_out, record_.job.micro_batches()));
  for (const StageSpan& own : record_.spans) {
    if (own.work == 'O')
      add_end(own);
    else if (own.work == 'D')
      span(own.stage, kReduction, "gradients", "collective", own.begin_s, own.end_s);
    else
      add_pass(own);
  }
  for (const StageMessage& message : record_.messages) add_message(message);
  for (int stage = 0; stage < stages_; ++stage) {
    if (!shows(stage)) continue;
    span(stage, kStep, "ProfilerStep#0", "step", 0, record_.step.step_s);
    if (record_.left_out > 0) add_gap(stage);
    name_stage(stage);
  }
  std::string notes;
  for (const std::string& note : notes_) notes += (notes.empty() ? "" : ",") + json_string(note);
  return "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"notes\":[" + notes + "]},\"traceEvents\":[\n" +
         events_.lines() + "]}\n";
}

}  // namespace

std::string write_parallel_trace(const LargeStepRecord& record) { return ParallelTrace(record).write(); }

}  // namespace foretrain

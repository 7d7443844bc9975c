// Finds the training steps of a trace, by the profiler's marks, by the optimizer's, or by kernels that
// repeat. Repetition is searched from the end, because what runs before training (loading, warm-up) does not
// repeat.
#include "sim/import/traces/trace_steps.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Steps of a trace, at most.
constexpr std::size_t kMostSteps = 100'000;

/// Takes the marks ProfilerStep#N. A step ends where the next one begins.
TraceSteps by_profiler_marks(const Trace& trace) {
  TraceSteps out;
  // The same step may be marked on several threads; the first mark of a name counts.
  std::map<std::uint32_t, const TraceEvent*> first;
  for (const TraceEvent& event : trace.events) {
    if (event.kind == TraceKind::annotation && is_step_mark(trace.name_of(event)))
      first.emplace(event.name, &event);
  }
  std::vector<const TraceEvent*> marks;
  for (const auto& [name, event] : first) marks.push_back(event);
  std::ranges::sort(marks, {}, [](const TraceEvent* event) { return event->start; });
  for (std::size_t i = 0; i < std::min(marks.size(), kMostSteps); ++i) {
    const std::int64_t end = i + 1 < marks.size() ? marks[i + 1]->start : marks[i]->end();
    out.steps.push_back({trace.name_of(*marks[i]), marks[i]->start, end});
  }
  out.found_by = "ProfilerStep#";
  return out;
}

/// Returns the steps between these moments.
TraceSteps between(std::vector<std::int64_t> bounds, std::string found_by) {
  TraceSteps out;
  for (std::size_t i = 0; i + 1 < std::min(bounds.size(), kMostSteps + 1); ++i)
    out.steps.push_back({fmt::format("step {}", i + 1), bounds[i], bounds[i + 1]});
  out.found_by = std::move(found_by);
  return out;
}

/// Takes the ends of the optimizer's marks as bounds. Marks of nested optimizers count once.
TraceSteps by_optimizer(const Trace& trace) {
  std::vector<std::int64_t> ends;
  for (const TraceEvent& event : trace.events) {
    if (event.kind != TraceKind::annotation || !is_optimizer_mark(trace.name_of(event))) continue;
    if (!ends.empty() && event.start < ends.back())
      ends.back() = std::max(ends.back(), event.end());
    else
      ends.push_back(event.end());
  }
  return between(std::move(ends), "Optimizer.step#");
}

/// Returns for each place how long the text from there on equals the text from the front on (Z function), in
/// linear time.
std::vector<std::size_t> common_prefixes(const std::vector<std::uint32_t>& text) {
  std::vector<std::size_t> out(text.size(), 0);
  for (std::size_t i = 1, left = 0, right = 0; i < text.size(); ++i) {
    if (i < right) out[i] = std::min(right - i, out[i - left]);
    while (i + out[i] < text.size() && text[out[i]] == text[i + out[i]]) ++out[i];
    if (i + out[i] > right) left = i, right = i + out[i];
  }
  return out;
}

/// Returns the shortest period at the end of `text` that covers nearly as much of it as any other does; 0
/// where nothing repeats. The reversed text is searched, so that prefixes are ends.
std::size_t period_at_end(std::vector<std::uint32_t> text, std::size_t& covered) {
  std::ranges::reverse(text);
  const std::vector<std::size_t> alike = common_prefixes(text);
  // A period p covers p + alike[p] places when the text repeats at least once.
  const auto reach = [&](std::size_t p) { return alike[p] >= p ? alike[p] + p : std::size_t{0}; };
  std::size_t most = 0;
  for (std::size_t p = 1; p < text.size(); ++p) most = std::max(most, reach(p));
  for (std::size_t p = 1; p < text.size(); ++p) {
    // Nine tenths of the longest cover are enough: a multiple of the true period may cover a little more.
    if (reach(p) * 10 >= most * 9 && reach(p) > 0) {
      covered = reach(p);
      return p;
    }
  }
  return 0;
}

/// Returns where in the period the host waits longest before a launch, summed over all periods: a step begins
/// there.
std::size_t longest_gap(const std::vector<std::int64_t>& starts, std::size_t first, std::size_t period) {
  std::size_t best = 0;
  std::int64_t longest = -1;
  for (std::size_t phase = 0; phase < period; ++phase) {
    std::int64_t sum = 0;
    for (std::size_t i = first + phase; i < starts.size(); i += period)
      sum += i > first ? starts[i] - starts[i - 1] : 0;
    if (sum > longest) longest = sum, best = phase;
  }
  return best;
}

/// Takes compute kernels in the order of their launches. Collectives are left out, since their place varies.
TraceSteps by_repetition(const Trace& trace) {
  std::vector<std::uint32_t> names;
  std::vector<std::int64_t> starts;
  for (const TraceLink& link : link_activities(trace)) {
    const TraceEvent& event = trace.events[link.activity];
    if (event.kind != TraceKind::kernel || is_collective_kernel(trace.name_of(event))) continue;
    names.push_back(event.name);
    starts.push_back(asked_at(trace, link));
  }
  std::ranges::sort(starts);
  std::size_t covered = 0;
  const std::size_t period = names.empty() ? 0 : period_at_end(names, covered);
  // Shorter periods are loops within a layer.
  constexpr std::size_t kFewestKernels = 4;
  if (period < kFewestKernels) return {};
  const std::size_t first = names.size() - covered;
  std::vector<std::int64_t> bounds;
  for (std::size_t i = first + longest_gap(starts, first, period); i < starts.size(); i += period)
    bounds.push_back(starts[i]);
  return between(std::move(bounds), "kernels that repeat");
}

}  // namespace

bool is_step_mark(std::string_view name) { return name.starts_with("ProfilerStep#"); }

bool is_optimizer_mark(std::string_view name) { return name.starts_with("Optimizer.step#"); }

bool is_loading_mark(std::string_view name) {
  for (const std::string_view part : {"DataLoader", "dataloader", "data_loader", "train_dataloader_next"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

TraceSteps find_steps(const Trace& trace) {
  TraceSteps out = by_profiler_marks(trace);
  if (out.steps.empty()) out = by_optimizer(trace);
  if (out.steps.empty()) out = by_repetition(trace);
  // First steps that are longer than three typical ones are left out, as long as enough steps remain.
  constexpr std::size_t kEnough = 4;
  // A step that is left out is longer than the typical one, so it stands above the middle of the sorted
  // lengths: the middle of the shorter list is still the typical length of the steps that remain.
  std::vector<std::int64_t> lengths;
  for (const TraceStep& step : out.steps) lengths.push_back(step.length());
  std::ranges::sort(lengths);
  std::size_t remaining = lengths.size();
  while (remaining >= kEnough && out.steps[out.left_out].length() / 3 > lengths[remaining / 2]) {
    ++out.left_out;
    --remaining;
  }
  out.steps.erase(out.steps.begin(), out.steps.begin() + static_cast<std::ptrdiff_t>(out.left_out));
  return out;
}

const TraceStep* typical_step(const TraceSteps& steps) {
  if (steps.steps.empty()) return nullptr;
  std::vector<const TraceStep*> by_length;
  for (const TraceStep& step : steps.steps) by_length.push_back(&step);
  const auto middle = by_length.begin() + static_cast<std::ptrdiff_t>(by_length.size() / 2);
  std::ranges::nth_element(by_length, middle, {}, [](const TraceStep* step) { return step->length(); });
  return *middle;
}

}  // namespace foretrain

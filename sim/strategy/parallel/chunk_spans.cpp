// Kernels and exchanges of a chunk's passes by name, and their messages, for traces and recorded steps.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/strategy/parallel/chunk_timing.hpp"

namespace foretrain {

namespace {

/// Returns, for example, "all-gather of 8 MiB among tensor ranks".
std::string exchange_text(const LayerStep& step) {
  constexpr std::string_view kNames[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                         "ring pass"};
  constexpr std::string_view kAlong[] = {"", "tensor", "context", "expert", "expert tensor"};
  return fmt::format("{} of {} among {} ranks", kNames[static_cast<std::size_t>(step.exchange)],
                     to_string(Bytes{static_cast<std::int64_t>(step.bytes)}),
                     kAlong[static_cast<std::size_t>(step.along)]);
}

/// Returns the name of a step in a trace.
std::string text_of_step(const LayerStep& step) {
  switch (step.kind) {
    case LayerStep::Kind::product:
      return fmt::format("product {} x {} x {}{}", step.m, step.n, step.k,
                         step.count > 1 ? fmt::format(", {} of them", step.count) : "");
    case LayerStep::Kind::attention:
      return "attention";
    case LayerStep::Kind::bytes:
      return step.launches > 1 ? fmt::format("{} other kernels", step.launches) : "other kernel";
    case LayerStep::Kind::exchange:
      return exchange_text(step);
  }
  return {};
}

/// Returns the parts of tasks that ran between two moments, in seconds from the first. All times are
/// multiplied by `factor`.
std::vector<PassSpan> spans_between(const SimulatedPasses& ran, Time from, Time until, double factor) {
  const std::vector<Task>& tasks = ran.writer.pass().graph().tasks();
  std::vector<PassSpan> out;
  for (const WrittenTask& written : ran.writer.written()) {
    const Span& span = ran.timeline.spans[written.task];
    const Time begin = std::max(span.start, from), end = std::min(span.end, until);
    if (end <= begin) continue;
    out.push_back({static_cast<PassCharge>(tasks[written.task].account),
                   written.step != nullptr ? text_of_step(*written.step) : std::string(written.what),
                   factor * to_seconds(begin - from), factor * to_seconds(end - from)});
  }
  return out;
}

}  // namespace

/// Traces show every layer, while at() may have extrapolated. The factors stretch the simulated spans to
/// at()'s totals.
ChunkSpans ChunkTimer::spans(const StageChunk& chunk, bool from_idle) {
  const ChunkPieces pieces(site_, chunk);
  if (pieces.in_order().empty()) return {};
  const ChunkTime& wanted = at(chunk, from_idle);
  const SimulatedPasses ran(site_, pieces, from_idle);
  const Time begin = ran.timeline.end_of(ran.begin), middle = ran.timeline.end_of(ran.middle),
             end = ran.timeline.end_of(ran.end);
  const auto factor = [](double total, Time simulated) {
    return simulated > Time{} ? total / to_seconds(simulated) : 1.0;
  };
  return {spans_between(ran, begin, middle, factor(wanted.forward.total, middle - begin)),
          spans_between(ran, middle, end, factor(wanted.backward.total, end - middle))};
}

std::vector<PieceParameters> ChunkTimer::parameters(const StageChunk& chunk) const {
  const ChunkPieces pieces(site_, chunk);
  std::vector<PieceParameters> out;
  for (const ChunkPiece* piece : pieces.in_order()) out.push_back({piece->parameters, piece->experts});
  return out;
}

/// Tasks are numbered in the order in which they were added, so comparing numbers separates the two passes.
ChunkMessages ChunkTimer::messages(const StageChunk& chunk, bool from_idle) const {
  const ChunkPieces pieces(site_, chunk);
  ChunkMessages out;
  if (pieces.in_order().empty()) return out;
  const SimulatedPasses ran(site_, pieces, from_idle);
  for (const WrittenTask& written : ran.writer.written()) {
    if (!written.message || written.task <= ran.begin) continue;
    (written.task <= ran.middle ? out.forward : out.backward).push_back(*written.message);
  }
  return out;
}

}  // namespace foretrain

// Declares the JSON fields of a collective over message sizes. A value that does not exist is null.
//
// Algorithm bandwidth is bytes over time; bus bandwidth is that times the factor of nccl-tests, which makes
// it comparable with a link's rate.
#include "sim/report/collective/collective_fields.hpp"

#include "sim/analysis/answer/collective_answer.hpp"

namespace foretrain {

namespace {

// A message size of a curve.
struct ShownMessage {
  const CollectivePoint& point;
  const ShownCurve& of;
  // Its index in the curve.
  std::size_t place;
  /// Returns false when nothing is sent, as on one GPU.
  bool runs() const { return point.channels > 0; }
  /// Returns what measured runs say about this size; nullptr: times are as simulated.
  const CallEvidence* evidence() const {
    return of.curve.evidence.empty() ? nullptr : &of.curve.evidence[place];
  }
};
// The parts of one call's time.
struct MessageParts {
  const CollectivePoint& point;
};

// These functions return the function that reads one member for a field.
template <class Figure>
auto of_message(Figure CollectivePoint::*figure) {
  return [figure](const ShownMessage& m) { return m.point.*figure; };
}

template <class Figure>
auto of_timing(Figure CollectiveTiming::*figure) {
  return [figure](const MessageParts& m) { return m.point.timing.*figure; };
}

template <class Figure>
auto of_curve(Figure CollectiveCurve::*figure) {
  return [figure](const ShownCurve& c) { return c.curve.*figure; };
}

/// Returns the name of the busiest link.
std::optional<std::string> bottleneck_name(const ShownMessage& m) {
  if (m.point.bottleneck < 0) return std::nullopt;
  return std::string(m.of.curve.links[static_cast<std::size_t>(m.point.bottleneck)]);
}

/// Returns the 90 % interval in seconds.
std::optional<Interval> interval_of_message(const ShownMessage& m) {
  const std::optional<TimeRange> found = interval_of(m.point);
  return found ? std::optional(Interval{to_seconds(found->low), to_seconds(found->high), 0.9}) : std::nullopt;
}

// Fields that are absent, not null, when they were not asked for.
constexpr WhenUnknown kWhenAsked = WhenUnknown::is_absent;

}  // namespace

// foretrain.collective/1: points[].parts.
template <>
const OutputObject<MessageParts>& output_object<MessageParts>() {
  using M = MessageParts;
  static const OutputObject<M> object{
      "CollectiveParts",
      "What a call's time goes to",
      {{"launch_s", "the host, of one thread of a process", [](const M& m) { return m.point.launch; }},
       {"start_s", "the kernel's start", of_timing(&CollectiveTiming::start)},
       {"steps_s", "latencies of the algorithm's steps", of_timing(&CollectiveTiming::steps)},
       {"fill_s", "the pipeline fills", of_timing(&CollectiveTiming::fill)},
       {"data_s", "bytes over the busiest link", of_timing(&CollectiveTiming::data)}}};
  return object;
}

// foretrain.collective/1: points[].
template <>
const OutputObject<ShownMessage>& output_object<ShownMessage>() {
  using M = ShownMessage;
  static const OutputFields<M> figures{
      {"bytes", "size of the message", of_message(&CollectivePoint::size)},
      {"time_s", "of a call", of_message(&CollectivePoint::time)},
      {"algbw_bytes_per_s", "size / time", of_message(&CollectivePoint::algbw)},
      {"busbw_bytes_per_s", "bus bandwidth as nccl-tests defines it", of_message(&CollectivePoint::busbw)},
      {"algorithm", "as NCCL calls it; null: nothing runs",
       [](const M& m) { return m.runs() ? std::optional(m.point.algorithm) : std::nullopt; }},
      {"protocol", "as NCCL calls it; null: nothing runs",
       [](const M& m) { return m.runs() ? std::optional(m.point.protocol) : std::nullopt; }},
      {"channels", "or connections of a transport; 0: nothing runs", of_message(&CollectivePoint::channels)}};
  static const OutputFields<M> reasons{
      {"bound_by", "what the time depends on most; null: nothing runs",
       [](const M& m) {
         const bool is_bound = m.point.bound != BoundBy::nothing;
         return is_bound ? std::optional(name_of(m.point.bound)) : std::nullopt;
       }},
      {"bottleneck", "the busiest link; null: there is none", bottleneck_name},
      {"interval", "of the time, 90 %; null where nothing runs or nobody measured such", interval_of_message},
      {"parts", "of the time", [](const M& m) { return MessageParts{m.point}; }},
      {"why", "the reason, in a sentence; with --explain",
       [](const M& m) { return m.of.explain ? std::optional(m.point.why) : std::nullopt; }, kWhenAsked},
      {"raw_time_s", "as simulated, where measured runs corrected the curve",
       [](const M& m) { return m.evidence() == nullptr ? std::nullopt : std::optional(m.evidence()->raw); },
       kWhenAsked},
      {"evidence", "what measured runs say of this size; no neighbours: as simulated",
       [](const M& m) {
         return m.evidence() == nullptr ? std::nullopt : std::optional(m.evidence()->estimate);
       },
       kWhenAsked}};
  static const OutputObject<M> object{"CollectivePoint", "One message size", figures + reasons};
  return object;
}

// foretrain.collective/1: the whole report.
template <>
const OutputObject<ShownCurve>& output_object<ShownCurve>() {
  using C = ShownCurve;
  static const OutputFields<C> question{
      {"cluster", "the cluster", of_curve(&CollectiveCurve::cluster)},
      {"gpu", "its GPU, a name of the catalog", of_curve(&CollectiveCurve::gpu)},
      {"op", "as nccl-tests calls it", [](const C& c) { return std::string_view(name_of(c.curve.op)); }},
      {"gpus", "number of GPUs", [](const C& c) { return c.curve.gpus(); }},
      {"nodes", "nodes they are on", [](const C& c) { return c.curve.placement.nodes; }},
      {"processes_per_node", "null: one for each GPU",
       [](const C& c) {
         const int processes = c.curve.processes_per_node;
         return processes == 0 ? std::nullopt : std::optional(processes);
       }},
      {"single", "whether times are of one call by itself, not of the loop of nccl-tests",
       of_curve(&CollectiveCurve::single)},
      {"library", "with its version", of_curve(&CollectiveCurve::library)},
      {"fidelity", "how it was simulated",
       [](const C& c) { return std::string_view(name_of(c.curve.fidelity)); },
       OneOf{{"analytic", "flow", "chunk"}}}};
  static const OutputFields<C> found{
      {"points", "one for each message size",
       [](const C& c) {
         std::vector<ShownMessage> out;
         for (const CollectivePoint& point : c.curve.points) out.push_back({point, c, out.size()});
         return out;
       }},
      {"warnings", "what the user should know, in sentences", of_curve(&CollectiveCurve::warnings)},
      {"answer", "the one answer, as every output says it", [](const C& c) { return answer_of(c.curve); }}};
  static const OutputObject<C> object{"Collective", "A collective over message sizes",
                                      schema_of_report<C>("collective") + question + found};
  return object;
}

std::string write_collective_json(const CollectiveCurve& curve, const ReportOptions& options) {
  return json_text(declared_json(ShownCurve{curve, options.explain}));
}

}  // namespace foretrain

// Declares objects that several reports share: intervals, memory, the breakdown of a step, and decisions.
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

namespace {

/// Returns the getter of one part of a breakdown.
auto seconds_of(Account account) {
  return [account](const Breakdown& b) { return b[static_cast<std::size_t>(account)]; };
}

}  // namespace

// A time in seconds with its interval.
template <>
const OutputObject<Interval>& output_object<Interval>() {
  static const OutputObject<Interval> object{"Interval",
                                             "Where a time lies",
                                             {{"low_s", "lower end", &Interval::low_s},
                                              {"high_s", "upper end", &Interval::high_s},
                                              {"level", "share of cases that lie inside", &Interval::level}}};
  return object;
}

// A number without a unit, with its interval.
template <>
const OutputObject<LevelRange>& output_object<LevelRange>() {
  using R = LevelRange;
  static const OutputObject<R> object{"LevelRange",
                                      "Where a number lies",
                                      {{"low", "lower end", &R::low},
                                       {"high", "upper end", &R::high},
                                       {"level", "share of cases that lie inside", &R::level}}};
  return object;
}

// Memory in bytes.
template <>
const OutputObject<ShortMemory>& output_object<ShortMemory>() {
  using M = ShortMemory;
  static const OutputObject<M> object{
      "ShortMemory",
      "Memory of the GPU that needs most, without its parts",
      {{"bytes", "what it holds", [](const M& m) { return m.point.memory.total(); }},
       {"capacity_bytes", "what the GPU has", [](const M& m) { return m.point.memory_capacity; }},
       {"fits", "whether it fits: bytes is no more than capacity_bytes",
        [](const M& m) { return m.point.fits(); }},
       {"largest_batch_per_gpu", "the largest batch of a micro-step that fits; 0: none",
        [](const M& m) { return m.point.largest_batch; }}}};
  return object;
}

// The parts sum to the step's time.
template <>
const OutputObject<Breakdown>& output_object<Breakdown>() {
  static const OutputObject<Breakdown> object{
      "Breakdown",
      "The account of a step; the parts sum to it",
      {{"compute_s", "kernels", seconds_of(Account::compute)},
       {"exposed_communication_s", "communication that nothing hides",
        seconds_of(Account::exposed_communication)},
       {"input_stall_s", "waits for data", seconds_of(Account::input_stall)},
       {"host_s", "waits for the host", seconds_of(Account::host)},
       {"optimizer_s", "the update", seconds_of(Account::optimizer)},
       {"other_s", "everything else", seconds_of(Account::other)}}};
  return object;
}

// A decision of the model, as --explain prints it.
template <>
const OutputObject<Decision>& output_object<Decision>() {
  using D = Decision;
  static const OutputObject<D> object{"Decision",
                                      "What the model chose, and why",
                                      {{"subject", "what it is about", &D::subject},
                                       {"choice", "what was chosen", &D::choice},
                                       {"why", "the reason, in a sentence", &D::why}}};
  return object;
}

}  // namespace foretrain

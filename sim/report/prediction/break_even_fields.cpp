// Declares the JSON fields of --break-even: how large batch, network or epoch must be for N GPUs to beat one,
// and how fast the link.
//
// Each value is searched by itself while everything else stays as in the scenario. `at` is the smallest
// value, or with is_upper the largest, with which the GPUs beat one GPU.
#include "sim/report/prediction/crossover_fields.hpp"

namespace foretrain {

namespace {

// A value with whether it counts samples of the data set, whose number may be unknown.
struct ShownBreakEven {
  const BreakEvenValue& value;
  bool is_of_samples = false;
  bool is_answered() const { return value.why_not.empty(); }
  bool is_known() const { return !is_of_samples || value.now != 0; }
};
// The bandwidth at which another number of GPUs becomes the fastest.
struct FastestBreakEven {
  const BreakEven& of;
};

/// Returns the getter of a figure that exists only with an answer.
template <class Figure>
auto when_answered(Figure BreakEvenValue::*figure) {
  return [figure](const ShownBreakEven& b) {
    return b.is_answered() ? std::optional(b.value.*figure) : std::nullopt;
  };
}

/// Does the same for a figure that is null when the number of samples is unknown.
template <class Figure>
auto when_known(Figure BreakEvenValue::*figure) {
  return [figure](const ShownBreakEven& b) {
    std::optional<std::optional<Figure>> out;
    if (!b.is_known()) out.emplace();
    if (b.is_known() && b.is_answered()) out.emplace(b.value.*figure);
    return out;
  };
}

/// Returns the getter of one of the values.
auto value_of(BreakEvenValue BreakEven::*value) {
  return [value](const BreakEven& b) { return ShownBreakEven{b.*value}; };
}

/// Returns the batch under the key of this kind of scaling; nothing under the other one.
std::optional<ShownBreakEven> batch_of(const BreakEven& b, bool strong_scaling) {
  if (b.strong_scaling != strong_scaling) return std::nullopt;
  return ShownBreakEven{b.batch};
}

}  // namespace

// A value, such as width or bandwidth.
template <>
const OutputObject<ShownBreakEven>& output_object<ShownBreakEven>() {
  using B = ShownBreakEven;
  constexpr WhenUnknown kAbsent = WhenUnknown::is_absent;
  static const OutputObject<B> object{
      "BreakEvenValue",
      "Where one thing alone, changed, makes the numbers equal",
      {{"now", "the scenario's own; null: the number of samples is unknown", when_known(&BreakEvenValue::now),
        kAbsent},
       {"beats_now", "the GPUs beat one already; null as now", when_known(&BreakEvenValue::beats_now),
        kAbsent},
       {"at", "the value; null: none up to the limit",
        [](const B& b) { return b.is_answered() ? b.value.at : std::nullopt; }},
       {"limit", "how far was looked", when_answered(&BreakEvenValue::limit), kAbsent},
       {"fits", "into the GPU's memory there", when_answered(&BreakEvenValue::fits), kAbsent},
       {"is_upper", "less of it helps: at is the largest that beats one GPU",
        when_answered(&BreakEvenValue::is_upper), kAbsent},
       {"why_not", "why it was not looked for; then nothing else is there",
        [](const B& b) { return b.is_answered() ? std::nullopt : std::optional(b.value.why_not); },
        kAbsent}}};
  return object;
}

// The value under the key "fastest".
template <>
const OutputObject<FastestBreakEven>& output_object<FastestBreakEven>() {
  using F = FastestBreakEven;
  static const OutputObject<F> object{
      "FastestBreakEven", "The bandwidth at which another number of GPUs is the fastest",
      fields_of_part<F>(output_object<ShownBreakEven>(),
                        [](const F& f) { return ShownBreakEven{f.of.fastest}; }) +
          OutputFields<F>{
              {"gpus_now", "the fastest number now", [](const F& f) { return f.of.fastest_now; }},
              {"gpus_then", "and with that bandwidth", [](const F& f) { return f.of.fastest_then; }}}};
  return object;
}

// The whole object.
template <>
const OutputObject<BreakEven>& output_object<BreakEven>() {
  using B = BreakEven;
  constexpr WhenUnknown kAbsent = WhenUnknown::is_absent;
  static const OutputObject<B> object{
      "BreakEven",
      "How large batch, network or epoch must be for the GPUs to beat one, and how fast the link",
      {{"gpus", "number of GPUs", &B::gpus},
       {"speedup", "rate / rate on one GPU, as the scenario stands", &B::speedup},
       {"global_batch", "of all GPUs; with strong scaling", [](const B& b) { return batch_of(b, true); },
        kAbsent},
       {"batch_per_gpu", "samples per GPU and micro-step; with weak scaling",
        [](const B& b) { return batch_of(b, false); }, kAbsent},
       {"width", "the network's, as a factor", value_of(&B::width)},
       {"epoch_samples", "of the data set: whole steps of all GPUs",
        [](const B& b) {
          return ShownBreakEven{b.epoch_samples, true};
        }},
       {"link", "what bounds the GPUs; null: no link does",
        [](const B& b) { return b.link.empty() ? std::nullopt : std::optional(b.link); }},
       {"link_bytes_per_s", "of one such link now; null: no link bounds them",
        [](const B& b) { return b.link.empty() ? std::nullopt : std::optional(b.link_bytes_per_s); }},
       {"bandwidth", "of links of that kind, as a factor", value_of(&B::bandwidth)},
       {"fastest", "the bandwidth at which another number of GPUs is the fastest",
        [](const B& b) { return FastestBreakEven{b}; }}}};
  return object;
}

}  // namespace foretrain

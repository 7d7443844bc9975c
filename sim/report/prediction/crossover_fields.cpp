// Declares the JSON fields of the crossover: where more GPUs stop paying, how sure that is, and what causes
// the losses.
//
// The crossover is the number of GPUs from which on more GPUs no longer make training faster.
#include "sim/report/prediction/crossover_fields.hpp"

#include <fmt/format.h>

namespace foretrain {

template <>
const OutputObject<GpuRange>& output_object<GpuRange>();
template <>
const OutputObject<LossPart>& output_object<LossPart>();
template <>
const OutputObject<CrossoverCause>& output_object<CrossoverCause>();
template <>
const OutputObject<WorthRequesting>& output_object<WorthRequesting>();

namespace {

// The thoroughness of the search over numbers of GPUs.
struct CrossoverSearch {
  const Crossover& of;
};
// An interval of a number of GPUs, and one whose ends may not exist.
struct IntegerRange {
  int low = 1, high = 1;
};
struct KnownIntegerRange {
  std::optional<int> low, high;
};

/// Returns, for each efficiency, the number of GPUs from which on it is not reached. Keys are written as
/// fractions.
NamedValues<std::optional<int>> efficiency_limits(const Crossover& c) {
  return {{{"0.9", c.efficiency_below_90},
           {"0.8", c.efficiency_below_80},
           {"0.5", c.efficiency_below_50},
           {"0.7", c.efficiency_below_70}}};
}

/// Returns the numbers of GPUs that reach each efficiency.
NamedValues<WorthRequesting> worth_by_efficiency(const Crossover& c) {
  NamedValues<WorthRequesting> out;
  for (const WorthRequesting& w : c.worth_requesting)
    out.values.emplace_back(fmt::format("{:g}", w.efficiency), w);
  return out;
}

}  // namespace

// A range of numbers of GPUs, both ends included.
template <>
const OutputObject<GpuRange>& output_object<GpuRange>() {
  static const OutputObject<GpuRange> object{
      "GpuRange",
      "Neighbouring numbers of GPUs that a person would request",
      {{"first", "the smallest", &GpuRange::first}, {"last", "the largest", &GpuRange::last}}};
  return object;
}

// crossover.causes[].parts[].
template <>
const OutputObject<LossPart>& output_object<LossPart>() {
  static const OutputObject<LossPart> object{"LossPart",
                                             "One thing that a step on many GPUs loses time to",
                                             {{"what", "in words", &LossPart::what},
                                              {"seconds", "of the step", &LossPart::seconds},
                                              {"share", "of the whole loss", &LossPart::share}}};
  return object;
}

// crossover.causes[].
template <>
const OutputObject<CrossoverCause>& output_object<CrossoverCause>() {
  using C = CrossoverCause;
  static const OutputObject<C> object{"LossCause",
                                      "What a step takes longer than if every GPU were as fast as one alone",
                                      {{"gpus", "number of GPUs", &C::gpus},
                                       {"loss_s", "the loss of a step", &C::loss_s},
                                       {"parts", "of the loss, largest first; they sum to it", &C::parts}}};
  return object;
}

// crossover.worth_requesting, one for each efficiency.
template <>
const OutputObject<WorthRequesting>& output_object<WorthRequesting>() {
  using W = WorthRequesting;
  static const OutputObject<W> object{
      "WorthRequesting",
      "Numbers of GPUs that reach an efficiency",
      {{"every_up_to", "from 1 to this, all that a person would request", &W::every_up_to},
       {"most", "the largest number that does", &W::most}}};
  return object;
}

// crossover.search.
template <>
const OutputObject<CrossoverSearch>& output_object<CrossoverSearch>() {
  using S = CrossoverSearch;
  static const OutputObject<S> object{
      "CrossoverSearch",
      "How thoroughly numbers of GPUs were looked at",
      {{"up_to", "the answers are about 1 to this", [](const S& s) { return s.of.searched; }},
       {"numbers", "so many of which a person would request", [](const S& s) { return s.of.numbers; }},
       {"simulated", "of these, for the answers", [](const S& s) { return s.of.simulated; }},
       {"certain", "false: dips between simulated numbers may be missed",
        [](const S& s) { return s.of.is_certain; }}}};
  return object;
}

// crossover itself.
template <>
const OutputObject<Crossover>& output_object<Crossover>() {
  using C = Crossover;
  static const OutputObject<C> object{
      "Crossover",
      "Where more GPUs stop paying",
      {{"fastest_gpus", "the fewest GPUs within 0.1 % of the largest throughput", &C::fastest_gpus},
       {"slower_than_one_gpu", "numbers of GPUs with less throughput than one", &C::slower_than_one_gpu},
       {"slower_than_fewer_gpus", "numbers with less throughput than a smaller one", &C::slower_than_fewer},
       {"no_gain_from", "the smallest number beyond the fastest; null: there is none", &C::no_gain_from},
       {"efficiency_below", "from so many GPUs on, by efficiency", efficiency_limits},
       // The first ends of the ranges above, under keys that older programs know.
       {"slower_than_one_gpu_from", "the smallest of slower_than_one_gpu; null: none",
        [](const C& c) { return first_of_ranges(c.slower_than_one_gpu); }},
       {"slower_than_previous_from", "the smallest of slower_than_fewer_gpus; null: none",
        [](const C& c) { return first_of_ranges(c.slower_than_fewer); }},
       {"cause", "of the losses, in words", &C::cause},
       {"worth_requesting", "GPUs that are used so well, by efficiency", worth_by_efficiency},
       {"causes", "what is lost at each of the answers, fewest GPUs first", &C::causes},
       {"search", "how thoroughly was looked", [](const C& c) { return CrossoverSearch{c}; }}}};
  return object;
}

template <>
const OutputObject<IntegerRange>& output_object<IntegerRange>() {
  static const OutputObject<IntegerRange> object{
      "IntegerRange",
      "Lowest and highest number of GPUs",
      {{"low", "the lowest", &IntegerRange::low}, {"high", "the highest", &IntegerRange::high}}};
  return object;
}

template <>
const OutputObject<KnownIntegerRange>& output_object<KnownIntegerRange>() {
  using R = KnownIntegerRange;
  static const OutputObject<R> object{
      "KnownIntegerRange",
      "Lowest and highest number of GPUs where there is one",
      {{"low", "the lowest; null: never", &R::low}, {"high", "the highest; null: never", &R::high}}};
  return object;
}

// crossover_interval: the interval over random draws of the uncertain inputs.
template <>
const OutputObject<CrossoverSpread>& output_object<CrossoverSpread>() {
  using S = CrossoverSpread;
  static const OutputObject<S> object{
      "CrossoverInterval",
      "The 90 % interval of each answer of the crossover; null where no draw has one",
      {{"fastest_gpus", "the fastest number of GPUs",
        [](const S& s) {
          return IntegerRange{s.fastest_low, s.fastest_high};
        }},
       {"chance_slower_than_one_gpu", "that some number of GPUs is slower than one",
        &S::chance_slower_than_one},
       {"slower_than_one_gpu_from", "from where on",
        [](const S& s) {
          return KnownIntegerRange{s.slower_from_low, s.slower_from_high};
        }},
       {"level", "share of cases that lie inside", [](const S&) { return 0.9; }}}};
  return object;
}

}  // namespace foretrain

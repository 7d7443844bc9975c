// Declares the JSON fields about evidence: the correction, the measured runs behind it, and the points as
// simulated.
//
// Factors are logarithms of measured over simulated time, so 0.05 means about 5 % slower than simulated.
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

template <>
const OutputObject<Neighbour>& output_object<Neighbour>();
template <>
const OutputObject<MeasuredRuns>& output_object<MeasuredRuns>();
template <>
const OutputObject<RawPoint>& output_object<RawPoint>();

// evidence.step.neighbours[].
template <>
const OutputObject<Neighbour>& output_object<Neighbour>() {
  using N = Neighbour;
  static const OutputObject<N> object{
      "Neighbour",
      "A measured run that is like the training",
      {{"source", "who measured it", [](const N& n) { return n.row.source; }},
       {"run", "the run of that source", [](const N& n) { return n.row.run; }},
       {"model", "the network", [](const N& n) { return n.row.model; }},
       {"gpu", "the GPU", [](const N& n) { return n.row.gpu; }},
       {"cluster", "the cluster", [](const N& n) { return n.row.cluster; }},
       {"repeats", "how often it was measured", &N::repeats},
       {"distance", "0: the same run; 1: nothing in common", &N::distance},
       {"weight", "of its residual in the estimate", &N::weight},
       {"believed", "how far it was believed beside the others", &N::trust}}};
  return object;
}

// evidence.step and evidence.ratio: the estimate of the Gaussian process.
template <>
const OutputObject<Estimate>& output_object<Estimate>() {
  using E = Estimate;
  static const OutputObject<E> object{
      "Estimate",
      "How far measured runs of the like lie from the simulation",
      {{"log_factor", "expected logarithm of measured over simulated", &E::log_factor},
       {"spread", "standard deviation of a further run's", &E::spread},
       {"uncertainty_left", "part of the spread without any measurement",
        [](const E& e) { return e.narrowing(); }},
       {"neighbours", "the measured runs, nearest first", &E::neighbours}}};
  return object;
}

// sensitivity.runs[]: runs that would narrow the prediction.
template <>
const OutputObject<RunsToMake>& output_object<RunsToMake>() {
  static const OutputObject<RunsToMake> object{
      "RunsToMake",
      "Short runs of one's own",
      {{"gpus", "number of GPUs, one for each run",
        [](const RunsToMake& one) {
          std::vector<int> gpus;
          for (const Observation& run : one.runs) gpus.push_back(run.gpus);
          return gpus;
        }},
       {"uncertainty_left", "part of what is uncertain now", &RunsToMake::left}}};
  return object;
}

// evidence.measured: measured runs of the same training.
template <>
const OutputObject<MeasuredRuns>& output_object<MeasuredRuns>() {
  using M = MeasuredRuns;
  static const OutputObject<M> object{"MeasuredRuns",
                                      "Measured runs of this very training",
                                      {{"where", "the cluster", &M::where},
                                       {"source", "who measured them", &M::source},
                                       {"runs", "how many", &M::runs},
                                       {"gpus", "number of GPUs", &M::gpus},
                                       {"low_s", "the shortest measured step", &M::low_s},
                                       {"high_s", "the longest", &M::high_s}}};
  return object;
}

// evidence.raw[].
template <>
const OutputObject<RawPoint>& output_object<RawPoint>() {
  static const OutputObject<RawPoint> object{
      "RawPoint",
      "A point as simulated, before evidence corrected it",
      {{"gpus", "number of GPUs", &RawPoint::gpus},
       {"step_s", "the step", &RawPoint::step_s},
       {"interval", "where it lies at the level", &RawPoint::interval}}};
  return object;
}

// evidence itself. A point's factor is exp(log_factor + log_factor_per_doubling * log2(gpus)).
template <>
const OutputObject<AppliedEvidence>& output_object<AppliedEvidence>() {
  using E = AppliedEvidence;
  static const OutputObject<E> object{
      "Evidence",
      "How measured runs corrected the points",
      {{"log_factor", "of every step", [](const E& e) { return e.correction.one_gpu; }},
       {"log_factor_per_doubling", "for each doubling of the GPUs",
        [](const E& e) { return e.correction.per_doubling; }},
       {"step", "of the step on one GPU", &E::step},
       {"ratio", "of the largest listed number over one GPU", &E::ratio},
       {"measured", "measured runs of this very training that the prediction is calibrated to", &E::measured},
       {"raw", "the points as simulated", &E::raw}}};
  return object;
}

}  // namespace foretrain

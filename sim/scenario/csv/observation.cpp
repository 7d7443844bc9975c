// Observations: the identity of a run, and an order of rows that does not depend on their files.
#include "sim/scenario/csv/observation.hpp"

#include <cmath>
#include <tuple>

namespace foretrain {

namespace {

/// The properties of a run, as a tuple to compare.
auto run_key_of(const Observation& r) {
  return std::tie(r.what, r.source, r.model, r.gpu, r.cluster, r.framework, r.execution, r.precision,
                  r.strategy, r.op, r.path, r.size, r.gpus, r.nodes);
}

}  // namespace

double residual_of(const Observation& row) { return std::log(row.measured / row.predicted); }

bool is_same_run(const Observation& a, const Observation& b) { return run_key_of(a) == run_key_of(b); }

bool comes_before(const Observation& a, const Observation& b) {
  const auto ka = run_key_of(a), kb = run_key_of(b);
  if (ka != kb) return ka < kb;
  return std::tie(a.measured, a.predicted, a.run) < std::tie(b.measured, b.predicted, b.run);
}

}  // namespace foretrain

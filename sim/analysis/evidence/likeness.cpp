// The tables are fitted by tools/fit_evidence (likeness.inc): spreads that make rows likeliest whose
// publication was left out, and for terms of one source rows whose machine was.
#include "sim/analysis/evidence/likeness.hpp"

#include <array>
#include <cmath>

namespace foretrain {

namespace {

#include "sim/analysis/evidence/likeness.inc"

/// Halves of a bit: a factor of four in batch or bytes leaves 1/e.
constexpr double kDoublingsOfSize = 2;

constexpr std::array<Likeness, 3> kLikeness{{{kStepTerms, kStepNoise, kStepBias},
                                             {kRatioTerms, kRatioNoise, kRatioBias},
                                             {kCollectiveTerms, kCollectiveNoise, kCollectiveBias}}};

bool is_same_source(const Observation& a, const Observation& b) {
  return !a.source.empty() && a.source == b.source;
}

/// Bits of what both share.
unsigned shared_by(const Observation& a, const Observation& b) {
  unsigned same = 0;
  const auto add = [&same](bool is_same, unsigned bit) { same |= is_same ? bit : 0; };
  add(is_same_source(a, b), shared::source);
  add(a.model == b.model, shared::model);
  add(a.network == b.network, shared::network);
  add(a.gpu == b.gpu, shared::gpu);
  add(a.architecture == b.architecture, shared::architecture);
  add(a.cluster == b.cluster, shared::cluster);
  add(a.framework == b.framework, shared::framework);
  add(a.execution == b.execution, shared::execution);
  add(a.precision == b.precision, shared::precision);
  add(a.strategy == b.strategy, shared::strategy);
  add(a.op == b.op, shared::op);
  add(a.path == b.path, shared::path);
  add((a.nodes > 1) == (b.nodes > 1), shared::several_nodes);
  add(a.gpus == b.gpus && a.nodes == b.nodes, shared::gpus);
  return same;
}

double along(FadesWith what, const Observation& a, const Observation& b) {
  if (what == FadesWith::size) {
    const double apart = std::abs(std::log2(std::max(1.0, a.size) / std::max(1.0, b.size)));
    return std::exp(-apart / kDoublingsOfSize);
  }
  return what == FadesWith::doublings ? std::log2(a.gpus) * std::log2(b.gpus) : 1;
}

}  // namespace

const Likeness& likeness_of(Observed what) { return kLikeness[static_cast<std::size_t>(what)]; }

double covariance(const Observation& a, const Observation& b) {
  if (a.what != b.what) return 0;
  const unsigned same = shared_by(a, b);
  double sum = 0;
  for (const LikenessTerm& term : likeness_of(a.what).terms)
    if ((same & term.same) == term.same) sum += term.spread * term.spread * along(term.along, a, b);
  return sum;
}

}  // namespace foretrain

// The tables are fitted by tools/fit_evidence (residual_covariance.inc). It chooses the spreads that make
// held-out rows most likely: rows of a held-out publication, and for terms of one source rows of a held-out
// machine.
#include "sim/analysis/evidence/residual_covariance.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace foretrain {

namespace {

#include "sim/analysis/evidence/residual_covariance.inc"

/// Scale of the decay with size, in doublings: a factor of four in batch or bytes leaves 1/e.
constexpr double kDoublingsOfSize = 2;

constexpr std::array<Covariance, 4> kCovariance{{{kStepTerms, kStepNoise, kStepBias},
                                                 {kRatioTerms, kRatioNoise, kRatioBias},
                                                 {kCollectiveTerms, kCollectiveNoise, kCollectiveBias},
                                                 {kStepTerms, kStepNoise, kStepBias}}};

/// Columns of a row and the bits for sharing them.
constexpr std::array<std::pair<RowText, unsigned>, 11> kSharedTexts{
    {{RowText::model, shared::model},
     {RowText::network, shared::network},
     {RowText::gpu, shared::gpu},
     {RowText::architecture, shared::architecture},
     {RowText::cluster, shared::cluster},
     {RowText::framework, shared::framework},
     {RowText::execution, shared::execution},
     {RowText::precision, shared::precision},
     {RowText::strategy, shared::strategy},
     {RowText::op, shared::op},
     {RowText::path, shared::path}}};

/// Returns the bits of all properties that both rows share.
unsigned shared_by(const StoredRow& a, const StoredRow& b) {
  unsigned same = 0;
  for (const auto& [which, bit] : kSharedTexts) same |= a.text(which) == b.text(which) ? bit : 0;
  const TextId source = a.text(RowText::source);
  same |= source != 0 && source == b.text(RowText::source) ? shared::source : 0;
  same |= (a.nodes > 1) == (b.nodes > 1) ? shared::several_nodes : 0;
  same |= a.gpus == b.gpus && a.nodes == b.nodes ? shared::gpus : 0;
  return same;
}

/// Returns the factor by which a term fades or grows between two rows.
double along(FadesWith what, const StoredRow& a, const StoredRow& b) {
  if (what == FadesWith::size) {
    const double apart = std::abs(std::log2(std::max(1.0, a.size) / std::max(1.0, b.size)));
    return std::exp(-apart / kDoublingsOfSize);
  }
  return what == FadesWith::doublings ? std::log2(a.gpus) * std::log2(b.gpus) : 1;
}

}  // namespace

const Covariance& covariance_of(Observed what) { return kCovariance[static_cast<std::size_t>(what)]; }

double noise_of(Observed what) {
  const double own = covariance_of(what).noise, of_ratio = covariance_of(Observed::ratio).noise;
  return own * own + (what == Observed::job ? of_ratio * of_ratio : 0);
}

bool informs(Observed row, Observed question) {
  const auto is_step = [](Observed what) { return what == Observed::step || what == Observed::job; };
  return row == question || (is_step(row) && is_step(question));
}

/// A term counts if the rows share all of its properties; the sum of such terms is a valid covariance.
double covariance(const StoredRow& a, const StoredRow& b) {
  if (!informs(a.what, b.what)) return 0;
  const unsigned same = shared_by(a, b);
  const auto sum_of = [&](Observed what) {
    double sum = 0;
    for (const CovarianceTerm& term : covariance_of(what).terms)
      if ((same & term.same) == term.same) sum += term.spread * term.spread * along(term.along, a, b);
    return sum;
  };
  const bool are_jobs = a.what == Observed::job && b.what == Observed::job;
  return sum_of(a.what) + (are_jobs ? sum_of(Observed::ratio) : 0);
}

}  // namespace foretrain

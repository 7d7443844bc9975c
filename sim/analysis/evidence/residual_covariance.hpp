// The covariance of the residuals of two runs, as a sum of named terms.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/scenario/csv/evidence_table.hpp"

namespace foretrain {

/// Properties that two runs may share; bits of CovarianceTerm::same.
namespace shared {
/// Properties that two runs may share; bits of CovarianceTerm::same.
inline constexpr unsigned source = 1, model = 2, network = 4, gpu = 8, architecture = 16, cluster = 32,
                          framework = 64, execution = 128, precision = 256, strategy = 512, op = 1024,
                          path = 2048, several_nodes = 4096, gpus = 8192;
}  // namespace shared

/// The quantity that a term fades or grows with. size: by exp(-|difference of log2| / 2). doublings: with
/// log2 of the GPUs of both, so that it says nothing about one GPU and is one slope for all others.
enum class FadesWith : std::uint8_t { nothing, size, doublings };

/// A term: runs that share all properties of `same` have a common residual with the standard deviation
/// `spread`.
struct CovarianceTerm {
  std::string_view name;
  unsigned same = 0;
  FadesWith along = FadesWith::nothing;
  double spread = 0;
};

/// The covariance of one kind of observation.
struct Covariance {
  std::span<const CovarianceTerm> terms;
  /// Standard deviation between one run and the next.
  double noise = 0;
  /// Standard deviation of what all runs of a source have in common and those of others do not.
  double bias = 0;
};

/// Returns the covariance of a kind; a job has that of the step on one GPU, which it gives information about.
const Covariance& covariance_of(Observed what);

/// Returns the variance of a row's noise; a job has the noise of its step and of its ratio.
double noise_of(Observed what);

/// Returns true if rows of one kind give information about questions of the other.
bool informs(Observed row, Observed question);

/// Returns the covariance of two rows of one table, without noise and bias. A job's residual is the sum of
/// that of its step on one GPU and that of its ratio: with another job it shares both, with a step on one GPU
/// the first. A term that needs the same source adds nothing to a run without one.
double covariance(const StoredRow& a, const StoredRow& b);

}  // namespace foretrain

// How alike two runs are: the covariance of what a prediction misses in both, as a sum of named terms.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/scenario/csv/evidence_table.hpp"

namespace foretrain {

/// What two runs may share; bits of CovarianceTerm::same.
namespace shared {
inline constexpr unsigned source = 1, model = 2, network = 4, gpu = 8, architecture = 16, cluster = 32,
                          framework = 64, execution = 128, precision = 256, strategy = 512, op = 1024,
                          path = 2048, several_nodes = 4096, gpus = 8192;
}

/// What a term fades or grows with. size: by exp(-|difference of log2| / 2). doublings: with log2 of the GPUs
/// of both, so that it says nothing about one GPU and one slope about all others.
enum class FadesWith : std::uint8_t { nothing, size, doublings };

/// Runs that share all of `same` have this much in common: `spread` is the standard deviation of it.
struct CovarianceTerm {
  std::string_view name;
  unsigned same = 0;
  FadesWith along = FadesWith::nothing;
  double spread = 0;
};

/// Of one kind of observation.
struct Covariance {
  std::span<const CovarianceTerm> terms;
  double noise = 0;  ///< what a run differs by from the next
  double bias = 0;   ///< what all runs of a source have in common, and those of others do not
};

/// Of a job that of the step on one GPU, which is what it tells about.
const Covariance& covariance_of(Observed what);

/// Variance of a row by itself: of a job that of its step and that of its ratio.
double noise_of(Observed what);

/// Whether rows of this kind say something about questions of that.
bool informs(Observed row, Observed question);

/// Without noise and bias, of rows of one table. A job's miss is that of its step on one GPU and that of its
/// ratio; with another job it shares both, with a step on one GPU the first. A term that needs the same
/// source is nothing to a run without one.
double covariance(const StoredRow& a, const StoredRow& b);

}  // namespace foretrain

// A measured run beside its prediction, with the properties on which both depend.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace foretrain {

/// The quantity of a row. step: the step of one GPU. ratio: the step of many GPUs over that of one GPU, or of
/// the smallest job of its series. collective: one call. job: the step of many GPUs without a measurement of
/// one alone.
enum class Observed : std::uint8_t { step, ratio, collective, job };
inline constexpr std::array<std::string_view, 4> kObservedNames{"step", "ratio", "collective", "job"};

/// One measured run, or one row of a series. Texts that do not apply (`op` of a training) are empty.
struct Observation {
  Observed what = Observed::step;
  /// Origin of the measurement: a publication, or the owner of a store.
  std::string source;
  /// Series, job or file, by which the run can be found.
  std::string run;
  /// Name of the network.
  std::string model;
  /// Kind of network: convolutions, products, recurrent.
  std::string network;
  std::string gpu, architecture, cluster;
  std::string framework, execution, precision;
  /// Strategy of a training; protocol and algorithm of a collective.
  std::string strategy;
  /// Operation of a collective.
  std::string op;
  /// Path of a collective's bytes.
  std::string path;
  /// Batch per GPU, or bytes.
  double size = 1;
  int gpus = 1, nodes = 1;
  /// Seconds; of ratios the measured and predicted quotient of steps.
  double measured = 0, predicted = 0;
  /// Version of the program that predicted.
  std::string version;
};

/// The texts of a row, in the order of a store's columns.
enum class RowText : std::uint8_t {
  source,
  run,
  model,
  network,
  gpu,
  architecture,
  cluster,
  framework,
  execution,
  precision,
  strategy,
  op,
  path,
  version
};
/// Number of these texts, and the member of each.
inline constexpr std::size_t kRowTexts = 14;
inline constexpr std::array<std::string Observation::*, kRowTexts> kRowTextMembers{
    &Observation::source,    &Observation::run,          &Observation::model,    &Observation::network,
    &Observation::gpu,       &Observation::architecture, &Observation::cluster,  &Observation::framework,
    &Observation::execution, &Observation::precision,    &Observation::strategy, &Observation::op,
    &Observation::path,      &Observation::version};

/// Returns log(measured / predicted): positive where the prediction is too fast.
double residual_of(const Observation& row);

/// Returns whether two rows are of the same run: everything that was run is equal. Such rows of one source
/// count once.
bool is_same_run(const Observation& a, const Observation& b);
/// Returns whether a row comes before another in a strict order by everything that was run, then by the
/// measurement.
bool comes_before(const Observation& a, const Observation& b);

}  // namespace foretrain

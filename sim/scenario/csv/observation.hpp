// A measured run beside its prediction, with what both depend on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace foretrain {

/// What a row says something about. step: of one GPU; ratio: of many GPUs' step over that of one GPU or of
/// the smallest job of its series; collective: one call; job: the step of many GPUs, of which nobody measured
/// one alone.
enum class Observed : std::uint8_t { step, ratio, collective, job };
inline constexpr std::array<std::string_view, 4> kObservedNames{"step", "ratio", "collective", "job"};

/// One measured run, or one series' row. Texts that do not apply (`op` of a training) are empty.
struct Observation {
  Observed what = Observed::step;
  std::string source;   ///< who measured: a publication, or the owner of a store
  std::string run;      ///< series, job or file, to find it again
  std::string model;    ///< network
  std::string network;  ///< its kind: convolutions, products, recurrent
  std::string gpu, architecture, cluster;
  std::string framework, execution, precision;
  std::string strategy;  ///< of trainings; of collectives the protocol and algorithm
  std::string op;        ///< of collectives
  std::string path;      ///< of collectives: what the bytes move over
  double size = 1;       ///< batch per GPU, or bytes
  int gpus = 1, nodes = 1;
  double measured = 0, predicted = 0;  ///< seconds; of ratios the measured and predicted quotient of steps
  std::string version;                 ///< of the program that predicted
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
inline constexpr std::size_t kRowTexts = 14;
inline constexpr std::array<std::string Observation::*, kRowTexts> kRowTextMembers{
    &Observation::source,    &Observation::run,          &Observation::model,    &Observation::network,
    &Observation::gpu,       &Observation::architecture, &Observation::cluster,  &Observation::framework,
    &Observation::execution, &Observation::precision,    &Observation::strategy, &Observation::op,
    &Observation::path,      &Observation::version};

/// log(measured / predicted): positive where the prediction is too fast.
double residual_of(const Observation& row);

/// Rows of one run in one place count once; what is equal is equal in everything that was run.
bool is_same_run(const Observation& a, const Observation& b);
/// A strict order by everything that was run, then by what was measured.
bool comes_before(const Observation& a, const Observation& b);

}  // namespace foretrain

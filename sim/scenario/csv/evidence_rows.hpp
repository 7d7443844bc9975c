// Rows of an evidence store: what was measured beside what was predicted, with what both depend on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// What a row says something about. step: of one GPU; ratio: of many GPUs' step over that of one GPU or of
/// the smallest job of its series; collective: one call.
enum class Observed : std::uint8_t { step, ratio, collective };
inline constexpr std::array<std::string_view, 3> kObservedNames{"step", "ratio", "collective"};

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

/// log(measured / predicted): positive where the prediction is too fast.
double residual_of(const Observation& row);

/// Rows of one run in one place count once; what is equal is equal in everything that was run.
bool is_same_run(const Observation& a, const Observation& b);
/// A strict order by everything that was run, then by what was measured.
bool comes_before(const Observation& a, const Observation& b);

/// A store may have so many rows and bytes.
inline constexpr std::size_t kMostObservations = 1'000'000;
inline constexpr std::size_t kLargestEvidence = 256u << 20;
/// Measured over predicted beyond this, either way, is a mistake of the unit: the largest residual of
/// docs/measured is 7.
inline constexpr double kLargestQuotient = 100;

/// "# foretrain evidence 1" and the names of the columns.
std::string evidence_heading();
/// One line with its end. Control characters and line ends within texts are written out.
std::string evidence_line(const Observation& row);

/// Reads a whole store. A last line without its end is of a writer that was interrupted: it is left out, and
/// `torn`, where not null, says so. Reports every other wrong field at its place: another version, missing
/// columns, no numbers, times that are off by a factor that only a unit explains.
std::vector<Observation> read_evidence(const SourceText& source, Diagnostics& diagnostics,
                                       bool* torn = nullptr);

}  // namespace foretrain

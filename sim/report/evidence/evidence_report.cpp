// Writes evidence as text. Percentages are of the step: a residual of 0.05 means 5 % slower than simulated.
#include "sim/report/evidence/evidence_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

// Largest number of neighbours in a table; the others are counted.
constexpr std::size_t kShownNeighbours = 12;
// Further runs are only proposed when less than this fraction of the uncertainty would be left.
constexpr double kWorthMeasuring = 0.98;

/// Returns a measured row in words: operation and size, or network, precision, batch and GPU.
std::string described(const Observation& row) {
  if (row.what == Observed::collective)
    return fmt::format("{} of {} on {} ({} on {})", printable(row.op),
                       to_string(Bytes{std::llround(row.size)}), printable(row.cluster),
                       counted(row.gpus, "GPU"), counted(row.nodes, "node"));
  return fmt::format("{} {} batch {:g} on {}, {}{}", printable(row.model), printable(row.precision), row.size,
                     printable(row.gpu), printable(row.source),
                     row.gpus > 1 ? fmt::format(", {} GPUs of {}", row.gpus, printable(row.cluster)) : "");
}

/// Returns the number of measurements behind an estimate, with repeats.
int measurements_of(const Estimate& e) {
  int sum = 0;
  for (const Neighbour& n : e.neighbours) sum += n.repeats;
  return sum;
}

/// Returns a logarithmic factor as a signed percentage.
std::string in_percent(double log_value) { return signed_percent(std::expm1(log_value), 0); }

/// Returns "steps by -6 % ± 5 from 9 measurements, nearest: …". The number behind ± is the spread of the
/// correction.
std::string correction_sentence(std::string_view what, double log_factor, const Estimate& e) {
  return fmt::format("{} by {} % ± {} from {}, nearest: {}", what, in_percent(log_factor),
                     percent(std::expm1(e.spread), 0), counted(measurements_of(e), "measurement"),
                     described(e.neighbours.front().row));
}

/// Returns the table of neighbours for --explain. Columns: distance in the covariance's units, weight in the
/// correction, how much of the measurement is believed, residual, and the measurement.
std::string neighbours_of(std::string_view what, const Estimate& e) {
  if (e.neighbours.empty()) return {};
  std::string out =
      fmt::format("\nEvidence on {}: {} % ± {}, {} % of the uncertainty is left\n", what,
                  in_percent(e.log_factor), percent(std::expm1(e.spread), 0), percent(e.narrowing(), 0));
  out += fmt::format("{:>9} {:>8} {:>8} {:>10}   measured\n", "distance", "weight", "believed", "slower by");
  for (std::size_t i = 0; i < std::min(e.neighbours.size(), kShownNeighbours); ++i) {
    const Neighbour& n = e.neighbours[i];
    out += fmt::format("{:>9} {:>8} {:>6} % {:>8} %   {}{}\n", decimal(n.distance, 2), decimal(n.weight, 3),
                       percent(n.trust, 0), in_percent(residual_of(n.row)), described(n.row),
                       n.repeats > 1 ? fmt::format(" ({} runs)", n.repeats) : "");
  }
  if (e.neighbours.size() > kShownNeighbours)
    out += fmt::format("          and {} further ones\n", e.neighbours.size() - kShownNeighbours);
  return out;
}

/// Returns the runs that would be most informative on the machine, of those that others measured: the least
/// known first.
std::string runs_to_make(const ResidualField& field, const std::string& cluster) {
  constexpr std::size_t kRuns = 5;
  const std::vector<Observation> rows = field.rows();
  const auto here = std::ranges::find(rows, cluster, &Observation::cluster);
  // Any row of the machine tells its GPU.
  if (here == rows.end()) return "No row is of it: any run tells something.\n";
  struct Run {
    Observation question;
    double narrowing;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Run> runs;
  for (const Observation& row : rows) {
    const auto key = std::tuple(row.model, row.precision, row.framework);
    // Each combination of model, precision and framework is asked about once.
    if (row.what != Observed::step || runs.contains(key)) continue;
    // The question is the same run on the GPU of this machine, and has no source yet.
    Observation question = row;
    question.source.clear(), question.cluster = cluster;
    question.gpu = here->gpu, question.architecture = here->architecture;
    const double narrowing = field.at(question).narrowing();
    runs.emplace(key, Run{std::move(question), narrowing});
  }
  std::vector<Run> ordered;
  for (auto& [key, run] : runs) ordered.push_back(std::move(run));
  std::ranges::stable_sort(ordered, std::ranges::greater{}, &Run::narrowing);
  ordered.resize(std::min(ordered.size(), kRuns));
  std::string out = "\nRuns of one GPU that would tell most (part of the uncertainty that is left)\n";
  for (const Run& run : ordered)
    out += fmt::format("{:>8} %   {} {} batch {:g} with {}\n", percent(run.narrowing, 0),
                       printable(run.question.model), printable(run.question.precision), run.question.size,
                       printable(run.question.framework));
  return out;
}

/// Returns the command with which a user stores these runs.
std::string kept_by(const std::vector<Observation>& runs) {
  std::string out =
      "  foretrain evidence add /dev/stdin <<END\n"
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n";
  for (const Observation& run : runs)
    out += fmt::format("mine,{},{},{},{},{:g},{},{},samples_per_s,RATE,,mine\n", printable(run.model),
                       printable(run.cluster), run.strategy, run.precision, run.size, run.gpus, run.nodes);
  return out + "END\n";
}

/// Returns the message sizes that evidence corrected.
std::vector<const CallEvidence*> corrected_sizes(const CollectiveCurve& curve) {
  std::vector<const CallEvidence*> out;
  for (const CallEvidence& e : curve.evidence)
    if (!e.estimate.neighbours.empty()) out.push_back(&e);
  return out;
}

}  // namespace

// The factor of the step is left out when the user's own measurement calibrates it.
std::string evidence_line_of(const AppliedEvidence& e) {
  std::string out;
  if (!e.step.neighbours.empty() && e.calibrated_on == 0)
    out = correction_sentence("Corrected", e.correction.one_gpu, e.step);
  if (!e.ratio.neighbours.empty() && e.known_on(e.gpus) == nullptr)
    out += (out.empty() ? "Corrected: " : "; ") +
           correction_sentence(fmt::format("{} GPUs over one", e.gpus), e.ratio.log_factor, e.ratio);
  return measured_line_of(e.measured) + (out.empty() ? out : out + " (--evidence off: as simulated).\n");
}

// The first proposal leaves the least uncertainty.
std::string runs_to_make_lines(const AppliedEvidence& e) {
  if (e.runs.empty() || e.runs.front().left >= kWorthMeasuring) return {};
  std::string out =
      fmt::format("Runs of five minutes, and the part of the uncertainty of the step on {} that is left:\n",
                  counted(e.gpus, "GPU"));
  for (const RunsToMake& one : e.runs) {
    std::string where;
    for (const Observation& run : one.runs)
      where += fmt::format("{}on {}", where.empty() ? "" : " and ", counted(run.gpus, "GPU"));
    out += fmt::format("  {:>4} %  {}\n", percent(one.left, 0), where);
  }
  out += "To keep the first, with the samples/s that it prints instead of RATE:\n";
  return out + kept_by(e.runs.front().runs);
}

std::string neighbour_lines(const AppliedEvidence& e) {
  return neighbours_of("the step of one GPU", e.step) +
         neighbours_of(fmt::format("{} GPUs over one", e.gpus), e.ratio);
}

// The range is over all corrected sizes; the largest size is described.
std::string evidence_line_of(const CollectiveCurve& curve) {
  const std::vector<const CallEvidence*> corrected = corrected_sizes(curve);
  if (corrected.empty()) return {};
  const auto factor = [](const CallEvidence* e) { return e->estimate.log_factor; };
  const auto [least, most] = std::ranges::minmax(corrected, {}, factor);
  const Estimate& e = corrected.back()->estimate;
  return fmt::format(
      "Corrected by {} % to {} %, {} of {}; the largest: ± {} from {}, nearest: {} (--evidence off: as "
      "simulated).\n",
      in_percent(factor(least)), in_percent(factor(most)), corrected.size(),
      counted(static_cast<int>(curve.points.size()), "size"), percent(std::expm1(e.spread), 0),
      counted(measurements_of(e), "measurement"), described(e.neighbours.front().row));
}

std::string neighbour_lines(const CollectiveCurve& curve) {
  const std::vector<const CallEvidence*> corrected = corrected_sizes(curve);
  return corrected.empty() ? "" : neighbours_of("the largest size", corrected.back()->estimate);
}

// Columns: rows of steps, of ratios (N GPUs over one), of collectives and of jobs; clusters; source.
std::string write_evidence_list(const std::vector<Observation>& rows) {
  struct Counts {
    std::array<int, kObservedNames.size()> of{};
    std::set<std::string> machines;
  };
  std::map<std::string, Counts> sources;
  for (const Observation& row : rows) {
    Counts& counts = sources[row.source];
    ++counts.of[static_cast<std::size_t>(row.what)];
    counts.machines.insert(row.cluster);
  }
  std::string out = fmt::format("{:>8} {:>8} {:>12} {:>6} {:>9}   source\n", "steps", "ratios", "collectives",
                                "jobs", "clusters");
  for (const auto& [source, counts] : sources)
    out += fmt::format("{:>8} {:>8} {:>12} {:>6} {:>9}   {}\n", counts.of[0], counts.of[1], counts.of[2],
                       counts.of[3], counts.machines.size(), printable(source));
  return out + counted(static_cast<int>(rows.size()), "row") + "\n";
}

// The comparison is case-sensitive.
bool has_word(const Observation& row, const std::string& word) {
  return std::ranges::any_of(
      std::array<const std::string*, 6>{&row.run, &row.source, &row.model, &row.gpu, &row.cluster, &row.op},
      [&](const std::string* text) { return text->find(word) != std::string::npos; });
}

// Columns: kind of row, measured and predicted value, residual, and the run.
std::string write_evidence_rows(const std::vector<Observation>& rows, const std::string& word) {
  std::string out =
      fmt::format("{:>10} {:>12} {:>12} {:>10}   run\n", "what", "measured", "predicted", "slower by");
  for (const Observation& row : rows) {
    if (!has_word(row, word)) continue;
    out += fmt::format("{:>10} {:>12.4g} {:>12.4g} {:>8} %   {}: {}\n",
                       kObservedNames[static_cast<std::size_t>(row.what)], row.measured, row.predicted,
                       in_percent(residual_of(row)), described(row), printable(row.run));
  }
  return out;
}

// First the rows with the largest residuals, then the runs that would help most.
std::string write_evidence_report(const ResidualField& field, const std::string& cluster) {
  constexpr std::size_t kWorst = 5;
  std::vector<Observation> own = field.rows();
  std::erase_if(own, [&](const Observation& row) { return row.cluster != cluster; });
  std::string out = fmt::format("{}: {}\n", printable(cluster), counted(static_cast<int>(own.size()), "row"));
  // Errors in either direction count alike.
  std::ranges::stable_sort(own, std::ranges::greater{},
                           [](const Observation& row) { return std::abs(residual_of(row)); });
  own.resize(std::min(own.size(), kWorst));
  if (!own.empty()) out += "\nFarthest off\n";
  for (const Observation& row : own)
    out +=
        fmt::format("{:>8} %   {} of {}: {}\n", in_percent(residual_of(row)),
                    kObservedNames[static_cast<std::size_t>(row.what)], described(row), printable(row.run));
  return out + runs_to_make(field, cluster);
}

}  // namespace foretrain

// Lists what was read from logs. Samples of one operation and job share a line, and so do skipped lines with
// one reason.
//
// The listing shows users whether a log was recognised before they fit anything to it.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/report/calibration/calibration_reports.hpp"

namespace foretrain {

namespace {

// Largest number of line numbers that are listed for one reason.
constexpr std::size_t kLinesNamed = 8;

/// Returns "lines 3, 5, 9 and 12 more".
std::string lines_of(const std::vector<int>& lines) {
  std::string out = lines.size() == 1 ? "line " : "lines ";
  for (std::size_t i = 0; i < std::min(lines.size(), kLinesNamed); ++i)
    out += fmt::format("{}{}", i > 0 ? ", " : "", lines[i]);
  if (lines.size() > kLinesNamed) out += fmt::format(" and {} more", lines.size() - kLinesNamed);
  return out;
}

/// Returns one line for each reason of skipped lines, in the order of the file.
std::string skipped_of(const SampleFile& file) {
  std::vector<std::pair<std::string, std::vector<int>>> reasons;
  for (const SkippedLine& skipped : file.skipped) {
    auto known = std::ranges::find(reasons, skipped.why, &std::pair<std::string, std::vector<int>>::first);
    if (known == reasons.end()) known = reasons.insert(known, {skipped.why, {}});
    known->second.push_back(skipped.line);
  }
  std::string out;
  for (const auto& [why, lines] : reasons) out += fmt::format("  skipped: {} ({})\n", why, lines_of(lines));
  return out;
}

/// Returns one line for each operation and job: kind, operation, GPUs, nodes, number of samples, unit, range
/// of sizes.
std::string jobs_of(const SampleFile& file) {
  struct Job {
    int samples = 0;
    std::int64_t least = 0, most = 0;
  };
  std::map<std::tuple<SampleKind, std::string, int, int, SampleUnit>, Job> jobs;
  for (const Sample& s : file.samples) {
    Job& job = jobs[{s.kind, s.what, s.gpus, s.nodes, s.unit}];
    if (s.bytes > 0)
      job.least = job.least == 0 ? s.bytes : std::min(job.least, s.bytes),
      job.most = std::max(job.most, s.bytes);
    ++job.samples;
  }
  std::string out;
  for (const auto& [key, job] : jobs) {
    const auto& [kind, what, gpus, nodes, unit] = key;
    out += fmt::format("  {:<10} {:<16} {:>4} {:<4} {:>4} {:<5} {:>6} {:<7} in {}",
                       kSampleKindNames[static_cast<std::size_t>(kind)], what, gpus, plural(gpus, "GPU"),
                       nodes, plural(nodes, "node"), job.samples, plural(job.samples, "sample"),
                       kSampleUnitNames[static_cast<std::size_t>(unit)]);
    out += job.most > 0 ? fmt::format(", {} to {} B\n", job.least, job.most) : "\n";
  }
  return out;
}

}  // namespace

// The heading of each file names its format and counts rows and samples.
std::string list_sample_files(const std::vector<SampleFile>& files, SampleListing listing) {
  std::string out;
  for (const SampleFile& file : files) {
    out += fmt::format("{}: {}, {}, {}\n", file.file, file.format, counted(file.rows, "row"),
                       counted(std::ssize(file.samples), "sample"));
    if (listing == SampleListing::samples) {
      for (const auto& [key, value] : file.provenance) out += fmt::format("  {}: {}\n", key, value);
      out += jobs_of(file);
    }
    out += skipped_of(file);
  }
  return out;
}

}  // namespace foretrain

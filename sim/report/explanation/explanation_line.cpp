// Writes a finished job in one line, for mails of seff and jobstats: the most important finding, and what the
// next job should request.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/report/explanation/explanation_reports.hpp"

namespace foretrain {

namespace {

// Longest line in bytes, and requests in it.
constexpr std::size_t kLongestLine = 240, kMostRequests = 3;

/// Returns the first sentence, such as "Its GPUs worked 41 % of the time."
std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

/// Returns the line of one job. The first finding tells how the job ended, which the mail states already, so
/// the second one is used.
std::string line_of_job(const JobExplanation& job) {
  const std::string id = job.job.id.empty() ? "" : fmt::format(" {}", printable(job.job.id));
  std::string out = fmt::format("foretrain: job{}:", id);
  if (!job.findings.empty())
    out +=
        " " + printable(first_sentence(job.findings[std::min<std::size_t>(1, job.findings.size() - 1)].text));
  std::string asked;
  for (std::size_t i = 0; i < std::min(job.next.size(), kMostRequests); ++i)
    asked += fmt::format("{}{}", i > 0 ? ", " : "", printable(job.next[i].option));
  if (!asked.empty()) out += fmt::format(" The next job: {}.", asked);
  if (job.findings.empty() && asked.empty()) out += " its files say nothing of its GPUs.";
  return shortened(out, kLongestLine) + "\n";
}

}  // namespace

std::string write_explanation_line(const std::vector<JobExplanation>& jobs) {
  std::string out;
  for (const JobExplanation& job : jobs) out += line_of_job(job);
  return out;
}

}  // namespace foretrain

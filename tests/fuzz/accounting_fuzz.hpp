// What holds of every job that the accounting's readers make, from whatever bytes: figures in range, jobs
// that can be joined and explained.
#pragma once

#include <cstdint>
#include <string>

#include "sim/import/accounting/readers.hpp"
#include "tests/fuzz/require.hpp"

namespace foretrain::test {

inline void check_share(const std::optional<double>& share, double most) {
  require(!share || (*share >= 0 && *share <= most));
}

inline void check_finished_job(const FinishedJob& job) {
  for (const Known<double>* figure :
       {&job.elapsed_s, &job.limit_s, &job.memory_asked, &job.memory_used, &job.cpu_s})
    require(!*figure || ((*figure)->value >= 0 && (*figure)->value <= 1e27));
  for (const Known<int>* figure : {&job.nodes, &job.gpus, &job.cpus, &job.tasks})
    require(!*figure || (*figure)->value >= 0);
  check_share(gpu_utilization(job), 1);
  require(!cpu_efficiency(job) || *cpu_efficiency(job) >= 0);
  if (job.elapsed_s) require(!text_of(job.elapsed_s->at).empty());
}

using AccountingReader = void (*)(const SourceText& source, Diagnostics& diagnostics,
                                  std::vector<FinishedJob>& jobs);

/// Any bytes, read as that format whether they look like it or not.
inline int fuzz_accounting(bool (*recognises)(std::string_view), AccountingReader read,
                           const std::uint8_t* data, std::size_t size) {
  const SourceText source{"fuzz.txt", std::string(reinterpret_cast<const char*>(data), size)};
  recognises(source.text);
  Diagnostics diagnostics(source);
  std::vector<FinishedJob> jobs;
  read(source, diagnostics, jobs);
  for (const FinishedJob& job : jobs) check_finished_job(job);
  if (!diagnostics.empty()) require(!format(diagnostics.found()).empty());
  try {
    std::vector<FinishedJob> twice = jobs;
    twice.insert(twice.end(), jobs.begin(), jobs.end());
    joined_jobs(twice);
  } catch (const InputError& error) {
    require(!error.diagnostics().empty());
  }
  return 0;
}

}  // namespace foretrain::test

// job show: a job script as it was understood.
#include "sim/app/commands.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/prediction/job_listing.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

void run_job_show(const JobCommand& command) {
  SourceText text = read_text_file(command.file);
  if (!is_job_script(text.text))
    throw InputError(
        std::vector<Diagnostic>{{text.name,
                                 {},
                                 "",
                                 "is no job script: it has no #SBATCH lines, no #! and no request_gpus",
                                 "scenarios are for foretrain predict"}});
  const OpenedJob job = read_job(std::move(text), command.overrides);
  const JobListing listing{job.script, job.findings, job.cluster ? job.cluster->name : "", job.no_cluster,
                           job.toml};
  write_output(command.output, find_row(kJobFormats, command.format)->write(listing));
}

}  // namespace foretrain

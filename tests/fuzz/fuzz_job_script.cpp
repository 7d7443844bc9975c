// Fuzz target: job scripts and submit files from any bytes. Nothing outside is read; what comes out has
// counts in range, findings that can be printed, and a scenario that is TOML.
#include <cstdint>
#include <string>

#include "sim/import/jobs/gpu_requirements.hpp"
#include "sim/import/job_checks.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace foretrain;
using test::require;

ClusterSpec small_cluster() {
  ClusterSpec cluster;
  cluster.name = "box", cluster.nodes = 4;
  cluster.node.gpus = 4, cluster.node.host.cores = 32, cluster.node.host.memory = {1ll << 38};
  cluster.site.system = BatchSystem::slurm;
  cluster.site.partitions = {{.name = "gpu",
                              .least_gpus = 1,
                              .most_nodes = 2,
                              .most_gpus = 8,
                              .longest = seconds(3600),
                              .for_tests = true}};
  return cluster;
}

void check(const JobScript& script, const SourceText& source) {
  const ClusterSpec cluster = small_cluster();
  for (const Field<int>& count : {script.resources.nodes, script.resources.gpus, script.resources.tasks})
    require(!count || count->value >= 0);
  JobFindings findings = check_job(script, source, cluster);
  for (const Diagnostic& finding : findings.warnings) require(!one_line(finding).empty());
  if (!findings.refused.empty()) require(!format(findings.refused).empty());
  const SourceText toml{"box.toml", write_job_scenario(script, cluster, {"resnet50", true})};
  Diagnostics problems(toml);
  parse_toml(toml, problems);
  for (const Diagnostic& problem : problems.found())
    require(problem.message.find("UTF-8") != std::string::npos);
  for (const auto& expression : script.request.requirements) satisfies(cluster.node.gpu, expression.value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const SourceText source{"job.sh", std::string(reinterpret_cast<const char*>(data), size)};
  const ScriptFinder itself = [&](const std::string& name) {
    return name == "self.sh" ? std::optional<SourceText>(source) : std::nullopt;
  };
  try {
    is_job_script(source.text);
    check(read_job_script(source, itself), source);
  } catch (const InputError& error) {
    require(!error.diagnostics().empty());
  }
  return 0;
}

// What holds of every job that could be read, from whatever bytes: counts in range, findings that can be
// printed, a scenario that is TOML.
#pragma once

#include <string>

#include "sim/import/job_checks.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/gpu_requirements.hpp"
#include "sim/import/jobs/job_lint.hpp"
#include "sim/import/jobs/whole_nodes.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/fuzz/require.hpp"

namespace foretrain::test {

inline ClusterSpec small_cluster(BatchSystem system) {
  ClusterSpec cluster;
  cluster.name = "box", cluster.nodes = 4;
  cluster.node.gpus = 4, cluster.node.host.cores = 32, cluster.node.host.memory = {1ll << 38};
  cluster.site.system = system;
  cluster.site.partitions = {{.name = "gpu",
                              .least_gpus = 1,
                              .most_nodes = 2,
                              .most_gpus = 8,
                              .longest = seconds(3600),
                              .for_tests = true}};
  return cluster;
}

inline void check_read_job(JobScript script, const SourceText& source) {
  const ClusterSpec cluster = small_cluster(script.system);
  take_whole_nodes(script, cluster);
  for (const Field<int>& count : {script.resources.nodes, script.resources.gpus, script.resources.tasks,
                                  script.resources.cpus_per_node, script.resources.gpus_per_node})
    require(!count || count->value >= 0);
  JobFindings findings = check_job(script, source, cluster);
  for (const Diagnostic& remark : lint_job(script, source)) findings.warnings.push_back(remark);
  for (const Diagnostic& finding : findings.warnings) require(!one_line(finding).empty());
  if (!findings.refused.empty()) require(!format(findings.refused).empty());
  const SourceText toml{"box.toml", write_job_scenario(script, cluster, {"resnet50", true})};
  Diagnostics problems(toml);
  parse_toml(toml, problems);
  for (const Diagnostic& problem : problems.found())
    require(problem.message.find("UTF-8") != std::string::npos);
  for (const auto& expression : script.request.requirements) satisfies(cluster.node.gpu, expression.value);
}

/// Any bytes, read as that system's; files that they name are the bytes themselves.
inline int fuzz_job_system(BatchSystem system, const std::uint8_t* data, std::size_t size) {
  const SourceText source{"job.txt", std::string(reinterpret_cast<const char*>(data), size)};
  const ScriptFinder itself = [&](const std::string& name) {
    return name == "self.sh" ? std::optional<SourceText>(source) : std::nullopt;
  };
  if (source.text.find('\0') != std::string::npos) return 0;
  try {
    const JobSystem& row = job_system(system);
    row.is(source.text);
    JobScript script;
    script.file = source.name, script.system = system;
    row.read(source, source.text, itself, script);
    check_read_job(script, source);
  } catch (const InputError& error) {
    require(!error.diagnostics().empty());
  }
  return 0;
}

}  // namespace foretrain::test

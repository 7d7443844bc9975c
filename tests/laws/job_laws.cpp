// Laws of jobs drawn at random: the check and the prediction speak of the same processes, GPUs and batch, and
// fewer CPUs are never faster.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/predict.hpp"
#include "sim/import/job_checks.hpp"
#include "sim/import/job_cluster.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/import/job_settings.hpp"
#include "sim/import/jobs/whole_nodes.hpp"
#include "sim/scenario/job.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drawn.hpp"

namespace job_laws {

using namespace foretrain;
using test::pick;
using test::Random;

namespace {

struct DrawnJob {
  int nodes = 1, gpus = 4, cpus = 10, processes = 4, batch = 32, workers = 2;
  bool by_srun = true, exclusive = false;
  std::string strategy;  ///< that the program is told; empty: none

  std::string text() const {
    std::string out =
        fmt::format("#!/bin/bash\n#SBATCH -p gpu\n#SBATCH -N {}\n#SBATCH --gres=gpu:v100:{}\n", nodes, gpus);
    out += fmt::format("#SBATCH --ntasks-per-node=1\n#SBATCH -c {}\n", cpus);
    if (exclusive) out += "#SBATCH --exclusive\n";
    const std::string program = fmt::format("t.py --batch-size {} --workers {}{}", batch, workers,
                                            strategy.empty() ? "" : " --strategy " + strategy);
    if (!strategy.empty()) return out + "python " + program + "\n";
    const std::string rendezvous =
        nodes > 1 ? fmt::format("--nnodes={} --rdzv_endpoint=$H:29500 ", nodes) : std::string();
    return out + fmt::format("{}torchrun {}--nproc_per_node={} {}\n", by_srun ? "srun " : "", rendezvous,
                             processes, program);
  }
};

DrawnJob drawn(Random& random) {
  DrawnJob job;
  job.nodes = pick<int>(random, {1, 1, 2, 4}), job.gpus = pick<int>(random, {1, 2, 4});
  if (job.nodes > 1) job.gpus = 4;  // whole nodes: of parts of nodes the command adds the nodes itself
  job.cpus = pick<int>(random, {1, 2, 3, 4, 8, 10, 16, 40});
  job.processes = pick<int>(random, {1, 2, 3, 4, 5, 8});
  job.batch = pick<int>(random, {8, 30, 64, 256}), job.workers = pick<int>(random, {0, 1, 2, 4, 12});
  job.by_srun = random() % 4 != 0, job.exclusive = random() % 5 == 0;
  if (random() % 5 == 0) job.strategy = pick<std::string>(random, {"dp", "mirrored"});
  return job;
}

struct ReadJob {
  JobScript script;
  JobFindings findings;
  std::optional<Scenario> scenario;  ///< of a job that can start
};

ReadJob read(const std::string& text, const ClusterSpec& cluster, const std::string& model) {
  ReadJob out;
  const SourceText source{"job.sh", text};
  out.script = read_job_script(source);
  take_whole_nodes(out.script, cluster);
  out.findings = check_job(out.script, source, cluster);
  if (out.findings.refused.empty())
    out.scenario = read_scenario({"s.toml", write_job_scenario(out.script, cluster, {model, false})}, {});
  return out;
}

double step_s(const DrawnJob& job, const ClusterSpec& cluster) {
  Scenario scenario = *read(job.text(), cluster, "mnist_net").scenario;
  scenario.gpus = {scenario.gpus.back()};
  return predict(scenario).points.back().step_s;
}

}  // namespace

TEST_CASE("check and prediction agree on processes, idle GPUs and batch of 2,000 jobs") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const ClusterSpec cluster = choose_cluster({}, "puhti");
  Random random(38);
  int started = 0;
  for (int i = 0; i < 2000; ++i) {
    const DrawnJob drawn_job = drawn(random);
    const std::string text = drawn_job.text();
    INFO(text);
    const ReadJob job = read(text, cluster, "mnist_net");
    // torchrun of two nodes on the first one waits for ever; two processes do not share a GPU.
    const bool one_process = !drawn_job.strategy.empty();
    const bool waits = !one_process && drawn_job.nodes > 1 && !drawn_job.by_srun,
               too_many = !one_process && drawn_job.processes > drawn_job.gpus;
    CHECK(job.findings.refused.empty() == !(waits || too_many));
    if (!job.scenario) continue;
    ++started;
    const Scenario& scenario = *job.scenario;
    const int gpus = scenario.gpus.back();
    const int nodes = one_process ? 1 : drawn_job.nodes;
    CHECK(gpus == nodes * drawn_job.gpus);
    CHECK(working_gpu_count(scenario, gpus) == nodes * (one_process ? drawn_job.gpus : drawn_job.processes));
    // A batch is that of a process, however many GPUs it drives.
    CHECK(samples_of_step(scenario, gpus) ==
          std::int64_t{drawn_job.batch} * (one_process ? 1 : nodes * drawn_job.processes));
    const bool says_idle = std::ranges::any_of(job.findings.warnings, [](const Diagnostic& warning) {
      return warning.message.find("will idle") != std::string::npos;
    });
    CHECK(says_idle == (!one_process && drawn_job.processes < drawn_job.gpus));
  }
  CHECK(started > 500);
}

TEST_CASE("fewer CPUs are never faster, more are never slower") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const ClusterSpec cluster = choose_cluster({}, "puhti");
  Random random(4);
  int slower = 0;
  for (int i = 0; i < 40; ++i) {
    DrawnJob job = drawn(random);
    job.by_srun = true, job.exclusive = false, job.nodes = 1;
    job.processes = job.gpus;
    double before = 1e9;
    for (const int cpus : {1, 2, 3, 4, 6, 8, 16, 40}) {
      job.cpus = cpus;
      INFO(job.text());
      const double now = step_s(job, cluster);
      CHECK(now > 0);
      CHECK(now <= before * (1 + 1e-9));
      slower += now < before * 0.9 && before < 1e9 ? 1 : 0;
      before = now;
    }
  }
  CHECK(slower > 20);  // it is not that CPUs never count
}

}  // namespace job_laws

// The fixtures of tests/unit/import/accounting (written from documentation, see its README.md): what each
// holds, in one table.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "sim/import/accounting/readers.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"

namespace accounting_files_test {

using namespace foretrain;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr double kGib = 1 << 30;

struct ExpectedJob {
  std::string_view file;
  std::size_t jobs = 1;
  std::string id;
  JobState state = JobState::completed;
  int gpus = -1, nodes = -1, cpus = -1;            ///< -1: not said
  double elapsed = -1, limit = -1;                 ///< seconds
  double used = -1, asked = -1;                    ///< GiB
  double cpu = -1, gpu = -1, gpu_memory_gib = -1;  ///< shares; GiB
};

const std::vector<ExpectedJob>& expected_jobs() {
  static const std::vector<ExpectedJob> rows{
      {"sacct_39.json", 1, "5120", JobState::completed, 8, 2, 80, 7200, 14400, 128, 320, 201600.5 / 576000,
       0.88, 16},
      {"sacct_36.json", 1, "900_3", JobState::timeout, 1, -1, 8, 3600, 3600, -1, -1, 9000.0 / 28800, -1, -1},
      // Of all tasks 100 GiB, so the 20 GiB of the largest are not counted eight times; GPUs 480 % of eight.
      {"sacct.txt", 1, "4217", JobState::completed, 8, 2, 256, 93600, 172800, 100, 960,
       864000.0 / (256 * 93600.0), 0.6, -1},
      {"sacct_p.txt", 6, "500_1", JobState::timeout, 1, 1, 32, 86400, 86400, -1, 64, -1, -1, -1},
      {"sacct_old.txt", 3, "71", JobState::completed, -1, 1, 8, 1800, -1, -1, 32, -1, -1, -1},
      {"seff.txt", 1, "8636500_7", JobState::completed, -1, 2, 48, 662, -1, 163.49 / 1024, 113.62, 0.4609, -1,
       -1},
      {"seff_csc.txt", 1, "31", JobState::completed, -1, 1, 128, 18760, -1, 90.81, 480, 0.031, 0.4097, 9.91},
      {"seff_osc.txt", 1, "4349800", JobState::timeout, 4, 2, 8, 86400, -1, -1, 16, 0.4485, 0.8333, 15},
      {"jobstats.txt", 1, "39798795", JobState::completed, 4, 2, 48, 67316, 345600, 15.7, 256, 0.0986,
       0.51525, 26.5},
      {"jobstats.json", 1, "", JobState::unknown, 1, 1, 12, 50944, -1, 78.868, 128, 0.09426, 0.986, 77.593},
      {"jobstats_js1.txt", 1, "", JobState::unknown, 4, 2, 48, 67316, -1, 15.7, 256, 0.0986, 0.51525, 26.5},
      {"scontrol.txt", 2, "120_2", JobState::completed, 4, 2, 48, 67316, 172800, -1, 256, -1, -1, -1},
      {"scontrol_o.txt", 2, "120_2", JobState::completed, 4, 2, 48, 67316, 172800, -1, 256, -1, -1, -1},
      // The mean over time, and the most.
      {"gpus.csv", 1, "", JobState::unknown, -1, -1, -1, -1, -1, -1, -1, -1, 0.5, 10},
  };
  return rows;
}

double or_none(const Known<double>& figure) { return figure ? figure->value : -1; }
int or_none(const Known<int>& figure) { return figure ? figure->value : -1; }
double or_none(const std::optional<double>& figure) { return figure.value_or(-1); }

std::vector<FinishedJob> read_fixture(std::string_view name) {
  return read_accounting(
      read_text_file(FORETRAIN_SOURCE_DIR "/tests/unit/import/accounting/" + std::string(name)));
}

void check_close(double read, double expected) {
  if (expected < 0)
    CHECK(read == -1);
  else
    CHECK_THAT(read, WithinRel(expected, 2e-3));
}

}  // namespace

TEST_CASE("every fixture of the accounting holds the figures that its table says") {
  for (const ExpectedJob& row : expected_jobs()) {
    INFO(row.file);
    const std::vector<FinishedJob> jobs = read_fixture(row.file);
    REQUIRE(jobs.size() == row.jobs);
    const FinishedJob& job = jobs.front();
    CHECK(job.id == row.id);
    CHECK((job.state ? job.state->value : JobState::unknown) == row.state);
    CHECK(or_none(job.gpus) == row.gpus);
    CHECK(or_none(job.nodes) == row.nodes);
    CHECK(or_none(job.cpus) == row.cpus);
    check_close(or_none(job.elapsed_s), row.elapsed);
    check_close(or_none(job.limit_s), row.limit);
    check_close(job.memory_used ? job.memory_used->value / kGib : -1, row.used);
    check_close(job.memory_asked ? job.memory_asked->value / kGib : -1, row.asked);
    check_close(or_none(cpu_efficiency(job)), row.cpu);
    check_close(or_none(gpu_utilization(job)), row.gpu);
    const auto memory = gpu_memory_used(job);
    check_close(memory ? *memory / kGib : -1, row.gpu_memory_gib);
  }
}

TEST_CASE("the states of an array's jobs, their limits and the types of GPUs are read") {
  const std::vector<FinishedJob> jobs = read_fixture("sacct_p.txt");
  REQUIRE(jobs.size() == 6);
  const std::vector<JobState> states{JobState::timeout, JobState::out_of_memory, JobState::cancelled,
                                     JobState::running, JobState::pending,       JobState::unknown};
  for (std::size_t i = 0; i < states.size(); ++i) CHECK(jobs[i].state->value == states[i]);
  CHECK(jobs[1].signal->value == 125);
  CHECK(jobs[5].state_text->value == "SPECIAL_EXIT");
  CHECK_FALSE(jobs[3].limit_s);  // TimelimitRaw is UNLIMITED, which is no number of minutes
  CHECK(read_fixture("scontrol.txt")[1].limit_s->value == 0);
  CHECK(read_fixture("sacct.txt")[0].gpu_type->value == "a100");
  CHECK(read_fixture("sacct_old.txt")[1].memory_asked->value == 32 * kGib);  // 16 GiB on each of two nodes
  CHECK_FALSE(read_fixture("sacct_old.txt")[2].memory_asked);                // all of the node
}

TEST_CASE("a figure knows file, line and column it was read at") {
  const FinishedJob job = read_fixture("sacct.txt")[0];
  CHECK(text_of(job.elapsed_s->at).ends_with("sacct.txt:3 (elapsed)"));
  CHECK(text_of(job.memory_used->at).ends_with("sacct.txt:6 (tresusageintot)"));
  CHECK(text_of(read_fixture("jobstats.txt")[0].measured_gpus->at)
            .ends_with("jobstats.txt:39 (GPU utilization)"));
}

TEST_CASE("GPUs of jobstats have their node, number, utilisation and memory") {
  for (const char* file : {"jobstats.txt", "jobstats_js1.txt"}) {
    const auto gpus = read_fixture(file)[0].measured_gpus->value;
    REQUIRE(gpus.size() == 4);
    CHECK(gpus[1].node == "della-i14g2");
    CHECK(gpus[1].index == 1);
    CHECK(gpus[1].utilization == 0.0);
    CHECK_THAT(*gpus[2].utilization, WithinAbs(0.729, 1e-9));
    CHECK(gpus[2].memory_total == 40 * kGib);
  }
}

}  // namespace accounting_files_test

// Values of the accounting, files of one job taken together, and what is refused with its place.
#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/gzip.hpp"
#include "sim/import/accounting/job_sheet.hpp"
#include "sim/import/accounting/readers.hpp"
#include "tests/support/catch.hpp"

namespace accounting_test {

using namespace foretrain;

namespace {

std::vector<FinishedJob> jobs_of(const std::string& text, const std::string& name = "a.txt") {
  return read_accounting({name, text});
}

std::string mistake_in(const std::string& text) {
  try {
    jobs_of(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// 100,000 blanks, packed.
const std::string kBlanks =
    "H4sIAAAAAAACA+"
    "3BMQEAAADCoCrrn9IaHkABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAArwYt8HnKoIYBAA==";
/// An object in an object, fifty times.
const std::string kDeep = "H4sIAAAAAAACA6tWSlSyqh6JhGEtyQAA0p2FtC0BAAA=";

}  // namespace

TEST_CASE("durations of Slurm are read, and what is none is not") {
  CHECK(elapsed_seconds("00:10") == 10.0);
  CHECK(elapsed_seconds("02:03.500") == 123.5);
  CHECK(elapsed_seconds("1-02:03:04") == 93784.0);
  CHECK(elapsed_seconds("2-00") == 172800.0);
  CHECK(elapsed_seconds("1-12:30") == 131400.0);
  CHECK(limit_seconds("UNLIMITED") == 0.0);
  for (const char* text :
       {"", "-1:00", "1:-1", "nan", "12", "1:2:3:4", "1e9:00", "99999999999-00:00:00", "1::2", "1.2.3:4"})
    CHECK_FALSE(elapsed_seconds(text));
}

TEST_CASE("amounts of memory count in powers of two, with every spelling of the tools") {
  CHECK(memory_bytes("180000M") == 180000.0 * (1 << 20));
  CHECK(memory_bytes("4Gc") == 4.0 * (1 << 30));
  CHECK(memory_bytes("187.50 GB") == 187.5 * (1 << 30));
  CHECK(memory_bytes("1 GiB") == 1.0 * (1 << 30));
  CHECK(memory_bytes("12", 1 << 20) == 12.0 * (1 << 20));
  for (const char* text : {"", "GB", "-1G", "nan", "inf", "1e9G", "1X", "1GBs", "99999999999999P"})
    CHECK_FALSE(memory_bytes(text));
}

TEST_CASE("shares above a hundred percent by rounding are one, and more is a mistake") {
  CHECK(percent_share("92.5%") == 0.925);
  CHECK(percent_share("100.4") == 1.0);
  for (const char* text : {"250", "-1", "nan", "", "%"}) CHECK_FALSE(percent_share(text));
  // Two hardware threads of a core report up to 200 % of it.
  CHECK(percent_share("150%", kMostCpuPercent) == 1.0);
  const std::string seff =
      "Job ID: 7\nCores: 4\nCPU Utilized: 06:00:00\nCPU Efficiency: 150.00% of 04:00:00\n";
  CHECK(jobs_of(seff).at(0).cpu_efficiency->value == 1.0);
}

TEST_CASE("a job that seff renames to its array's name is found by that name") {
  const std::string use = "CPU Utilized: 01:00:00\n";
  const std::vector<FinishedJob> jobs =
      jobs_of("Job ID: 125\nArray Job ID: 123_4\n" + use + "Job ID: 123_4\nNodes: 2\n" + use);
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].id == "123_4");
  CHECK(jobs[0].nodes->value == 2);
}

TEST_CASE("a number of a GPU that jobstats cannot mean is a mistake and not GPU 0") {
  CHECK_THAT(mistake_in("Slurm Job Statistics\nJob ID: 1\nGPU utilization per node\n  n1 (GPU x1): 50%\n"),
             ContainsSubstring("\"x1\" is no number of a GPU"));
}

TEST_CASE("types of GPUs in a list of resources add up where no sum is told") {
  CHECK(listed_gpus(resource_list("gres/gpu:a100=2,gres/gpu:v100=1")).count == 3);
  CHECK(listed_gpus(resource_list("gres/gpu:a100=2,gres/gpu=2")).count == 2);
  CHECK(listed_gpus(resource_list("gres/gpu:a100=2,gres/gpu=2")).type == "a100");
  CHECK_FALSE(listed_gpus(resource_list("cpu=4,gres/gpu=-1,mem")).count);
}

TEST_CASE("base64 is whole or nothing") {
  CHECK(decoded_base64("Zm9v") == "foo");
  CHECK(decoded_base64("Zm8=") == "fo");
  CHECK(decoded_base64("Zg==") == "f");
  CHECK(decoded_base64("Zg") == "f");
  CHECK(decoded_base64("") == "");
  for (const char* text : {"Z", "Zm9vY", "Zm 9", "Z===", "Zm=9", "Zm9*"}) CHECK_FALSE(decoded_base64(text));
}

TEST_CASE("a payload that unpacks to more than it may is given up") {
  const auto packed = decoded_base64(kBlanks);
  REQUIRE(packed);
  CHECK(unpacked_gzip(*packed, 200'000)->size() == 100'000);
  CHECK_FALSE(unpacked_gzip(*packed, 50'000));
  CHECK_FALSE(unpacked_gzip(packed->substr(0, packed->size() / 2), 200'000));
  CHECK_FALSE(unpacked_gzip("no gzip at all", 200'000));
  CHECK_THAT(mistake_in("JS1:" + kBlanks), ContainsSubstring("is no JSON object"));
  CHECK_THAT(mistake_in("JS1:" + kDeep), ContainsSubstring("is no JSON object"));
  CHECK_THAT(mistake_in("JS1:Zm9v"), ContainsSubstring("cut off, no gzip, or too large"));
  CHECK_THAT(mistake_in("JS1:Zm9vY"), ContainsSubstring("cut off, or no base64"));
  CHECK(jobs_of("JS1:Short").size() == 1);
}

TEST_CASE("every wrong cell of a table is told with its line and column") {
  const std::string told = mistake_in(
      "JobID|State|Elapsed|AllocCPUS|MaxRSS\n1|COMPLETED|-1:00|nan|\n2|COMPLETED|1:00:00|4|lots\n");
  CHECK_THAT(told, ContainsSubstring("a.txt:2:13: error: elapsed: \"-1:00\" is no duration"));
  CHECK_THAT(told, ContainsSubstring("a.txt:2:19: error: alloccpus: \"nan\" is no number"));
  CHECK_THAT(told, ContainsSubstring("a.txt:3:23: error: maxrss: \"lots\" is no amount of memory"));
  CHECK_THAT(mistake_in("JobID|State\n1|COMPLETED|x|y\n"),
             ContainsSubstring("4 columns, but the header has 2"));
}

TEST_CASE("what is no accounting is refused with the formats that are known") {
  CHECK_THAT(mistake_in("hello\n"), ContainsSubstring("known: sacct --json, jobstats -j, jobstats, seff"));
  CHECK_THAT(mistake_in(std::string("Job ID: 1\nCPU Utilized: 1:00\n\0", 31)),
             ContainsSubstring("no accounting"));
  CHECK_THAT(mistake_in("{\"jobs\": [], \"job_id\": 1}"), ContainsSubstring("holds no job"));
  CHECK_THAT(mistake_in("{\"jobs\": [{\"job_id\": 1}"), ContainsSubstring("is no whole JSON"));
}

TEST_CASE("JSON with numbers out of range, of other types and in strange places is read as far as it goes") {
  const auto jobs = jobs_of(
      R"({"jobs": [{"job_id": -1, "time": {"elapsed": -5, "limit": 1e300}, "tres": {"allocated": [1, {"type": 7}]},
          "steps": {"a": 1}, "state": {"current": [3]}}, 7, {"job_id": 2, "steps": [null], "time": {"elapsed": 1e99}}]})");
  REQUIRE(jobs.size() == 2);
  CHECK_FALSE(jobs[0].elapsed_s);
  CHECK_FALSE(jobs[0].limit_s);
  CHECK_FALSE(jobs[0].state);
  CHECK_FALSE(jobs[1].elapsed_s);
}

TEST_CASE("a JSON text nested deeper than any accounting is refused") {
  const std::string deep(100'000, '[');
  CHECK_THAT(mistake_in("{\"jobs\": \"job_id\", \"job_id\": " + deep), ContainsSubstring("nested too deep"));
  CHECK_THAT(mistake_in("{\"nodes\": " + deep + ", \"total_time\""), ContainsSubstring("nested too deep"));
}

TEST_CASE("more jobs than anybody looks at are refused") {
  std::string text = "JobID|State\n";
  for (int i = 0; i < 20'002; ++i) text += std::to_string(i) + "|COMPLETED\n";
  CHECK_THAT(mistake_in(text), ContainsSubstring("more than 20000 jobs"));
}

TEST_CASE("files about one job are one job, and the first that says a figure counts") {
  auto all = jobs_of("JobID|State|Elapsed|AllocCPUS\n7|COMPLETED|1:00:00|4\n", "a.txt");
  auto more = jobs_of(
      "Job ID: 7\nState: COMPLETED (exit code 0)\nCores: 4\nCPU Utilized: 02:00:00\n"
      "CPU Efficiency: 50.00% of 04:00:00 core-walltime\nJob Wall-clock time: 01:00:01\n",
      "b.txt");
  auto gpus = jobs_of("index, utilization.gpu [%]\n0, 50 %\n", "c.txt");
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), gpus.begin(), gpus.end());
  const auto joined = joined_jobs(all);
  REQUIRE(joined.size() == 1);
  CHECK(joined[0].elapsed_s->value == 3600);
  CHECK(cpu_efficiency(joined[0]) == 0.5);
  CHECK(gpu_utilization(joined[0]) == 0.5);
}

TEST_CASE("files that contradict each other are told with both places") {
  auto all = jobs_of("JobID|AllocTRES|State|Elapsed\n7|cpu=4,gres/gpu=8|COMPLETED|1:00:00\n", "a.txt");
  auto other = jobs_of("JobId=7 JobState=COMPLETED\n  AllocTRES=cpu=4,gres/gpu=4 RunTime=2:00:00\n", "b.txt");
  all.insert(all.end(), other.begin(), other.end());
  try {
    joined_jobs(all);
    FAIL("taken");
  } catch (const InputError& error) {
    CHECK_THAT(error.what(), ContainsSubstring("4 GPUs here, but 8 GPUs in a.txt:2 (alloctres)"));
    CHECK_THAT(error.what(), ContainsSubstring("7200 s here, but 3600 s in a.txt:2 (elapsed)"));
  }
}

TEST_CASE("what names no job cannot be given to one of several") {
  auto all = jobs_of("JobID|State\n1|COMPLETED\n2|COMPLETED\n");
  auto gpus = jobs_of("index, utilization.gpu [%]\n0, 50 %\n");
  all.insert(all.end(), gpus.begin(), gpus.end());
  CHECK_THROWS_AS(joined_jobs(all), InputError);
}

TEST_CASE("states are known by name, shorthand and cut to a column") {
  CHECK(job_state("CANCELLED by 1000") == JobState::cancelled);
  CHECK(job_state("OUT_OF_ME+") == JobState::out_of_memory);
  CHECK(job_state("CD") == JobState::completed);
  CHECK(job_state("NODE_FAIL") == JobState::node_failure);
  CHECK(job_state("C+") == JobState::unknown);
  CHECK(job_state("") == JobState::unknown);
  CHECK(job_state("FLYING") == JobState::unknown);
}

}  // namespace accounting_test

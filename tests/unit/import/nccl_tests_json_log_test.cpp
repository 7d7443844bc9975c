// Tests of reading what nccl-tests writes with -J.
#include "tests/support/catch.hpp"
#include "tests/unit/import/sample_logs.hpp"

namespace nccl_tests_json_log_test {

using namespace foretrain;
using namespace foretrain::test;
using Lines = std::vector<std::string>;

namespace {

const std::string kHead =
    R"({"version": 2, "start_time": "2026-01-02 03:04:05", "args": ["build/all_gather_perf", "-J", "x"],
 "env": ["HOME=/root", "NCCL_ALGO=Tree", "NCCL_PROTO=LL,LL128"], "nccl_version": 22902, "config": {"nthreads": 1, "ngpus": 1, "iterations": 20,
 "devices": [{"rank": 0, "group": 0, "pid": 7, "hostname": "a", "device": 0, "device_info": "NVIDIA H100"},
             {"rank": 1, "group": 0, "pid": 8, "hostname": "b", "device": 0, "device_info": "NVIDIA H100"}]}, "results": [)";

}  // namespace

TEST_CASE("a result of nccl-tests JSON gives both times with the conditions of the run") {
  const SampleFile file =
      read_log(kHead + R"({"size": 1024, "count": 128, "type": "float", "redop": "none", "root": "    -1",
    "out_of_place": {"time": 12.5, "alg_bw": 0.08, "bus_bw": 0.04, "nwrong": 0.0}, "in_place": {"time": 11.5, "alg_bw": 0.09, "bus_bw": 0.04, "nwrong": null},
    "actual_iterations": 30, "experiment_name": "AllGather"}]})");
  CHECK(file.format == "nccl-tests JSON");
  CHECK(file.rows == 1);
  CHECK(in_words(file) ==
        Lines{"all_gather 1024 12.5 us type=float nccl.algorithm=tree nccl.version=2.29.2",
              "all_gather 1024 11.5 us type=float in_place=1 nccl.algorithm=tree nccl.version=2.29.2"});
  CHECK(file.samples[0].nodes == 2);
  CHECK(file.samples[0].repeats == 30);
  CHECK(file.provenance ==
        Settings{{"gpu", "NVIDIA H100"}, {"host", "a"}, {"nccl", "2.29.2"}, {"date", "2026-01-02 03:04:05"}});
}

TEST_CASE("the deviation of single iterations becomes the spread, and CPU times are times too") {
  const SampleFile file = read_log(
      kHead + R"({"size": 8, "count": 1, "type": "float", "redop": "none", "root": "-1", "out_of_place": null,
    "in_place": {"cpu_time": 10, "alg_bw": 0, "bus_bw": 0, "nwrong": null}, "in_place_per_iter": {"avg_us": 10, "stdev_us": 2}}]})");
  REQUIRE(file.samples.size() == 1);
  CHECK(file.samples[0].spread == Approx(0.2));
}

TEST_CASE("results that are no measurements are left out with the reason") {
  const SampleFile file = read_log(kHead + R"(
    {"size": 8, "type": "float", "redop": "none", "out_of_place": {"time": "nan", "nwrong": 0}, "in_place": {"alg_bw": 1}},
    {"size": 0, "type": "float", "redop": "none", "out_of_place": {"time": 3}}, {"size": 8, "type": "float"}, 17]})");
  CHECK(file.rows == 4);
  CHECK(file.samples.empty());
  CHECK(left_out(file) == Lines{"0: the value is not a number", "0: its in-place time is no number",
                                "0: a message of 0 bytes", "0: the line ends early",
                                "0: the line ends early"});
}

TEST_CASE("JSON that was cut gives no samples and says so") {
  const SampleFile file = read_log(kHead + R"({"size": 8, "out_of_place": {"time": 3}, "in_)");
  CHECK(file.samples.empty());
  REQUIRE(file.skipped.size() == 1);
  CHECK(file.skipped[0].why ==
        "the JSON is not complete, so nothing of it is read; nccl-tests ends it when it is finished");
}

TEST_CASE("JSON nested a hundred thousand deep is read without harm") {
  const std::string deep(100'000, '[');
  CHECK(read_log("{\"results\": [], \"in_place\": 1, \"x\": " + deep + std::string(100'000, ']') + "}")
            .samples.empty());
}

}  // namespace nccl_tests_json_log_test

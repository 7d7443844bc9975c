// Every log of ../shared/samples against a table that was written by reading and counting each of them: rows
// by grep, figures by eye.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "sim/import/sample_log.hpp"
#include "tests/support/catch.hpp"

namespace sample_log_files_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

const fs::path kSamples = FORETRAIN_SOURCE_DIR "/../shared/samples";

// file: rows, samples, GPUs, nodes, first value, last value, what (in alphabetical order), format. Values are
// as printed, but for the network (MB/s of perftest × 1048576e-9, Gb/s / 8, MB/s of OSU / 1000), nanoseconds
// and seconds. A row of nccl-tests holds two times unless its size is 0.
constexpr const char* kExpected = R"(
nccl_tests/echo_nccl_1.log: 28 56 1 1 4.47 0.48 all_reduce nccl-tests
nccl_tests/echo_nccl_16.log: 25 50 16 2 34.66 250681 all_reduce nccl-tests
nccl_tests/echo_nccl_2.log: 28 56 2 1 8.65 5183.1 all_reduce nccl-tests
nccl_tests/echo_nccl_4.log: 28 56 4 1 16.42 7169.6 all_reduce nccl-tests
nccl_tests/echo_nccl_64.log: 23 46 64 8 314.8 66376 all_reduce nccl-tests
nccl_tests/echo_nccl_8.log: 28 56 8 1 31.44 8139.6 all_reduce nccl-tests
nccl_tests/git_a100-polaris-2x4-nccl2.18_all_reduce_ofi4.log: 29 58 8 2 25.18 52020 all_reduce nccl-tests
nccl_tests/git_a100-polaris-2x4-nccl2.21_all_gather_tcp.log: 29 48 8 2 67.94 287875 all_gather nccl-tests
nccl_tests/git_a100_40_1x8_echo.log: 28 56 8 1 31.44 8139.6 all_reduce nccl-tests
nccl_tests/git_a100_80_1x8_coreweave_all_reduce.log: 23 46 8 1 23.41 3110.1 all_reduce nccl-tests
nccl_tests/git_a100_80_1x8_coreweave_alltoall.log: 26 52 8 1 50.87 12052 alltoall nccl-tests
nccl_tests/git_a100_dgx_2x8_hdr.log: 30 60 16 2 38.63 42677 all_reduce nccl-tests
nccl_tests/git_a100_p4d_2x8_efa_awsdocs.log: 28 56 16 2 158.9 70110 all_reduce nccl-tests
nccl_tests/git_a100_perlmutter_1x4_allreduce.log: 31 62 4 1 16.30 56559 all_reduce nccl-tests
nccl_tests/git_a100pcie-1x2_all_reduce.log: 229 456 2 1 17.37 874970 all_reduce nccl-tests
nccl_tests/git_a100pcie-2x1-ib-gdr_all_gather.log: 229 456 2 2 25.03 444141 all_gather nccl-tests
nccl_tests/git_b200_lambda_2x8.log: 29 58 16 2 36.50 5728.40 all_reduce nccl-tests
nccl_tests/git_gh200_alps_128x4_boeschf.log: 30 60 512 128 187.7 94130 all_reduce nccl-tests
nccl_tests/git_gh200_alps_2x4_boeschf.log: 30 60 8 2 18.74 47465 all_reduce nccl-tests
nccl_tests/git_h100_a3mega_2x8_ar.log: 31 62 16 2 135.8 47743 all_reduce nccl-tests
nccl_tests/git_h100_dgx_1x8_node002.log: 50 100 8 1 182.87 46782.8 all_gather,all_reduce,alltoall,reduce_scatter,sendrecv nccl-tests
nccl_tests/git_h100_nebius_2x8.log: 31 62 16 2 45.72 34381.0 all_reduce nccl-tests
nccl_tests/git_h100_p5_2x8_efa_eks.log: 32 60 16 2 65.43 9060.4 all_reduce nccl-tests
nccl_tests/git_h100_snellius_1x4_all_reduce.log: 26 52 4 1 17.05 619.9 all_reduce nccl-tests
nccl_tests/git_jeanzay_n1_32gb_all_reduce_bench.log: 5 5 4 1 48500 48500 all_reduce all_reduce_bench
nccl_tests/git_p100pcie_2gpu_all_gather.log: 128 254 2 1 106.1 11661 all_gather nccl-tests
nccl_tests/git_rtx2080ti_2gpu_nop2p.log: 187 363 2 1 12.2 113591 all_gather,all_reduce,alltoall,broadcast,copy_call,d2d,d2h,h2d,p2p,reduce nccl-tests + p2pBandwidthLatencyTest + bandwidthTest
nccl_tests/git_rtx4090-1x2_all_reduce_ringsimple.log: 27 27 2 1 20.86 472994 all_reduce nccl-tests
nccl_tests/superbench_nccl_allreduce.log: 34 64 8 1 34.73 63959 all_reduce nccl-tests
nvbandwidth/p2p_gh200_nvbandwidth_superbench.log: 16 21 1 1 369.36 0.77258 d2h,h2d nvbandwidth
nvbandwidth/p2p_v100_dgx1_nvbandwidth_device_to_device_memcpy_read_ce.log: 8 32 2 1 24.25 48.48 p2p nvbandwidth
nvbandwidth/superbench_nvbandwidth_results.log: 16 21 1 1 369.36 0.77258 d2h,h2d nvbandwidth
p2p/p2p_a100_sxm80_p2p.log: 64 512 2 1 1524.39 3.00 copy_call,d2d,p2p p2pBandwidthLatencyTest
p2p/p2p_bandwidthtest_p100_a100_della.log: 24 24 1 1 12.1 1251.4 d2d,d2h,h2d bandwidthTest
p2p/p2p_deepops_roce100_write_bw.log: 1 1 2 2 11.55 11.55 write perftest
p2p/p2p_ibex_a100_2xhdr_osu_bibw.log: 23 23 2 2 0.0046 51.215 send OSU micro-benchmarks
p2p/p2p_rtx2080ti_nop2p_p2p.log: 19 35 2 1 12.2 3.27 copy_call,d2d,d2h,h2d,p2p p2pBandwidthLatencyTest + bandwidthTest
p2p/p2p_rtx6000ada_x4_p2p.log: 32 128 2 1 140.75 2.05 copy_call,d2d,p2p p2pBandwidthLatencyTest
p2p/p2p_superbench_ib_loopback_all.log: 24 24 1 1 0.00555745 24.3697 write perftest
p2p/p2p_v100_dgx1_p2p.log: 64 512 2 1 768.53 2.45 copy_call,d2d,p2p p2pBandwidthLatencyTest
)";

struct Expected {
  std::string file;
  int rows = 0, samples = 0, gpus = 0, nodes = 0;
  double first = 0, last = 0;
  std::string what, format;
};

std::vector<Expected> expected_files() {
  std::vector<Expected> files;
  std::istringstream lines(kExpected);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    Expected e;
    std::istringstream words(line);
    words >> e.file >> e.rows >> e.samples >> e.gpus >> e.nodes >> e.first >> e.last >> e.what >> std::ws;
    std::getline(words, e.format);
    e.file.pop_back();
    files.push_back(e);
  }
  return files;
}

SourceText text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {path.string(), {std::istreambuf_iterator<char>(stream), {}}};
}

std::string what_of(const SampleFile& file) {
  std::set<std::string> names;
  for (const Sample& sample : file.samples) names.insert(sample.what);
  return fmt::format("{}", fmt::join(names, ","));
}

std::pair<int, int> largest_job(const SampleFile& file) {
  std::pair<int, int> most{0, 0};
  for (const Sample& sample : file.samples) most = std::max(most, {sample.gpus, sample.nodes});
  return most;
}

}  // namespace

TEST_CASE("every shared log gives the rows, samples, jobs and figures that a reader of it finds") {
  if (!fs::is_directory(kSamples / "nccl_tests")) FORETRAIN_SKIP("../shared/samples is not there");
  for (const Expected& e : expected_files()) {
    INFO(e.file);
    const SampleFile file = read_sample_log(text_of(kSamples / e.file));
    CHECK(file.format == e.format);
    CHECK(file.rows == e.rows);
    REQUIRE(static_cast<int>(file.samples.size()) == e.samples);
    CHECK(what_of(file) == e.what);
    CHECK(largest_job(file) == std::pair(e.gpus, e.nodes));
    CHECK(file.samples.front().value == Approx(e.first).epsilon(1e-5));
    CHECK(file.samples.back().value == Approx(e.last).epsilon(1e-5));
  }
}

TEST_CASE("the table of shared logs leaves no file out") {
  if (!fs::is_directory(kSamples / "nccl_tests")) FORETRAIN_SKIP("../shared/samples is not there");
  std::set<std::string> known, there;
  for (const Expected& e : expected_files()) known.insert(e.file);
  for (const char* folder : {"nccl_tests", "nvbandwidth", "p2p"}) {
    for (const auto& entry : fs::directory_iterator(kSamples / folder))
      there.insert(fmt::format("{}/{}", folder, entry.path().filename().string()));
  }
  CHECK(known == there);
}

TEST_CASE("what a shared log leaves out are messages of no bytes, and nothing else") {
  if (!fs::is_directory(kSamples / "nccl_tests")) FORETRAIN_SKIP("../shared/samples is not there");
  for (const Expected& e : expected_files()) {
    INFO(e.file);
    for (const SkippedLine& skipped : read_sample_log(text_of(kSamples / e.file)).skipped)
      CHECK(skipped.why == "a message of 0 bytes");
  }
}

TEST_CASE("the GPU of a shared log is known in nearly all of them") {
  if (!fs::is_directory(kSamples / "nccl_tests")) FORETRAIN_SKIP("../shared/samples is not there");
  int known = 0, all = 0;
  for (const Expected& e : expected_files()) {
    const SampleFile file = read_sample_log(text_of(kSamples / e.file));
    for (const auto& [key, value] : file.provenance) known += key == "gpu" ? 1 : 0;
    ++all;
  }
  CHECK(known >= all - 1);
}

}  // namespace sample_log_files_test

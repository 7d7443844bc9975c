// Tests of reading nccl-tests: layouts of all versions, which collective a table is, the job, forced choices,
// and what is left out.
#include "tests/support/catch.hpp"
#include "tests/unit/import/sample_logs.hpp"

namespace nccl_tests_log_test {

using namespace foretrain;
using namespace foretrain::test;
using Lines = std::vector<std::string>;

namespace {

const std::string kOldHeader =
    "#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n";
const std::string kHeader =
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n";
const std::string kTwoRanks =
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid  11 on  alpha device  0 [0x07] NVIDIA A100-SXM4-40GB\n"
    "#  Rank  1 Group  0 Pid  12 on  alpha device  1 [0x0f] NVIDIA A100-SXM4-40GB\n";

std::string ranks(int count, int per_host) {
  std::string text = "# Using devices\n";
  for (int i = 0; i < count; ++i)
    text += fmt::format("#  Rank {} Pid {} on h{} device {} [0x00] V100\n", i, 100 + i, i / per_host,
                        i % per_host);
  return text;
}

std::string only_op(const std::string& text, const LogHints& hints = {}) {
  const SampleFile file = read_log(text, hints);
  return file.samples.empty() ? "" : file.samples[0].what;
}

}  // namespace

TEST_CASE("a row gives its out-of-place and its in-place time, with type and reduction") {
  const SampleFile file = read_log("./all_reduce_perf -g 1\n" + kTwoRanks + kHeader +
                                   "  1024  256  float  sum  -1  11.5  0.09  0.09  0  10.5  0.1  0.1  0\n");
  CHECK(file.format == "nccl-tests");
  CHECK(file.rows == 1);
  CHECK(in_words(file) == Lines{"all_reduce 1024 11.5 us type=float redop=sum",
                                "all_reduce 1024 10.5 us type=float redop=sum in_place=1"});
  CHECK(file.samples[0].gpus == 2);
  CHECK(file.samples[0].nodes == 1);
  CHECK(file.samples[0].line == 6);
  CHECK(file.provenance == Settings{{"gpu", "NVIDIA A100-SXM4-40GB"}, {"host", "alpha"}});
}

TEST_CASE(
    "all layouts of columns are read: without root, without reduction, with root alone, one side only, per "
    "iteration") {
  const std::string job = kTwoRanks;
  CHECK(in_words(read_log(job + kOldHeader + "8 2 float sum 8.6 0.0 0.0 0e+00 8.5 0.0 0.0 0e+00\n")) ==
        Lines{"all_reduce 8 8.6 us type=float redop=sum",
              "all_reduce 8 8.5 us type=float redop=sum in_place=1"});
  CHECK(
      in_words(read_log(
          "all_gather_perf\n" + job +
          "# size count type time algbw busbw error time algbw busbw error\n16 2 float 7 0 0 0 6 0 0 0\n")) ==
      Lines{"all_gather 16 7 us type=float", "all_gather 16 6 us type=float in_place=1"});
  CHECK(in_words(read_log("broadcast_perf\n" + job +
                          "# size count type root time algbw busbw error time algbw busbw error\n16 4 half 0 "
                          "7 0 0 0 6 0 0 0\n")) ==
        Lines{"broadcast 16 7 us type=half root=0", "broadcast 16 6 us type=half root=0 in_place=1"});
  CHECK(in_words(read_log(job + kOldHeader + "64 16 float sum 20.8 0.0 0.0 N/A\n")) ==
        Lines{"all_reduce 64 20.8 us type=float redop=sum"});
  const std::string wide =
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong "
      "i_min i_max i_p99 i_cv%\n";
  CHECK(in_words(read_log("all_reduce_perf\n" + job + wide +
                          "8 2 float sum -1 9 1 1 0 8 10 10 2 7 1 1 0 6 8 8 2\n")) ==
        Lines{"all_reduce 8 9 us type=float redop=sum", "all_reduce 8 7 us type=float redop=sum in_place=1"});
}

TEST_CASE("the tables of 2018 have milliseconds, and ranks without processes") {
  const SampleFile file = read_log(
      "#   Rank  0 on  alpha device  0 [0x04] Tesla V100\n#   Rank  1 on  alpha device  1 [0x06] Tesla V100\n"
      "#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw     "
      " res\n"
      "   134217728      33554432   float     sum   13.142  10.21  10.21    0e+00   13.1 10.2 10.2 N/A\n");
  CHECK(in_words(file) == Lines{"all_reduce 134217728 13142 us type=float redop=sum",
                                "all_reduce 134217728 13100 us type=float redop=sum in_place=1"});
  CHECK(file.provenance == Settings{{"gpu", "Tesla V100"}, {"host", "alpha"}});
}

TEST_CASE("a type of elements that is not known yet is read inside a table") {
  CHECK(in_words(read_log("all_reduce_perf\n" + kTwoRanks + kHeader +
                          "1024 1024 fp4 sum -1 11.5 0.09 0.09 0 10.5 0.1 0.1 0\n")) ==
        Lines{"all_reduce 1024 11.5 us type=fp4 redop=sum",
              "all_reduce 1024 10.5 us type=fp4 redop=sum in_place=1"});
}

TEST_CASE("marks of mpirun, srun, quotes, colours and indents are no part of a row") {
  for (const std::string& mark :
       Lines{"[1,0]<stdout>:", "0: ", "    ", "[STAT]:", "    [1,0]<stdout>:", "\x1b[32m"}) {
    INFO(mark);
    std::string text;
    for (const std::string& line :
         Lines{"#  Rank  0 Pid 5 on a device 0 [0x00] V100", "#  Rank  1 Pid 6 on b device 0 [0x00] V100",
               kOldHeader.substr(0, kOldHeader.size() - 1), "8 2 float sum 8.6 0.0 0.0 0 8.5 0.0 0.0 0"})
      text += mark + line + "\r\n";
    const SampleFile file = read_log(text);
    REQUIRE(file.samples.size() == 2);
    CHECK(file.samples[0].nodes == 2);
  }
}

TEST_CASE("lines of other programs inside a table are passed over") {
  const SampleFile file = read_log(
      kTwoRanks + kOldHeader +
      "host:1:1 [0] NCCL INFO Launch mode Parallel\n8 2 float sum 8.6 0 0 0 8.5 0 0 0\nWARNING: 3 things\n16 "
      "4 float sum 9 0 0 0 9 0 0 0\n");
  CHECK(file.rows == 2);
  CHECK(file.samples.size() == 4);
  CHECK(file.skipped.empty());
}

TEST_CASE("the collective is that of the program by its start line, its command line, or its end line") {
  const std::string table = kTwoRanks + kHeader + "1024 128 float none -1 7 0 0 N/A 6 0 0 N/A\n";
  CHECK(only_op("# Collective test starting: alltoall_perf\n" + table) == "alltoall");
  CHECK(only_op("mpirun -np 2 /opt/bin/all_gather_perf -b 8\n" + table) == "all_gather");
  CHECK(only_op(table + "# Collective test concluded: sendrecv_perf\n") == "sendrecv");
  CHECK(only_op("We measured an all-gather:\n" + table) == "all_gather");
}

TEST_CASE(
    "a line that names several programs names none, and a name that the columns contradict does not count") {
  const std::string table =
      kTwoRanks + kHeader + "1048576 262144 float sum -1 70 14.9 14.9 0 70 14.9 14.9 0\n";
  CHECK(only_op("## all_reduce_perf, all_gather_perf\n" + table) == "all_reduce");
  CHECK(only_op("all_gather_perf\n" + table) == "all_reduce");
}

TEST_CASE("without any name, columns, bandwidth ratios, counts and checks tell the collective") {
  // 4 ranks: busbw/algbw = 2·3/4 = 1.5 of an all-reduce, 3/4 of a reduce-scatter, all-gather and all-to-all,
  // 1 of send/receive
  const std::string job = ranks(4, 4) + kHeader;
  CHECK(only_op(job + "1048576 262144 float sum -1 70 10 15 0 70 10 15 0\n") == "all_reduce");
  CHECK(only_op(job + "1048576 65536 float sum -1 70 10 7.5 0 70 10 7.5 0\n") == "reduce_scatter");
  CHECK(only_op(job + "1048576 262144 float sum -1 70 10 10 0 70 10 10 N/A\n") == "sendrecv");
  CHECK(only_op(job + "1048576 65536 float none -1 70 10 7.5 0 70 10 7.5 0\n") == "all_gather");
  CHECK(only_op(job + "1048576 65536 float none -1 70 10 7.5 0 70 10 7.5 N/A\n") == "alltoall");
  CHECK(only_op(job + "1048576 262144 float none 0 70 10 10 0 70 10 10 0\n") == "broadcast");
  CHECK(only_op(job + "1048576 262144 float sum 0 70 10 10 0 70 10 10 0\n") == "reduce");
}

TEST_CASE("a collective that cannot be told is left out, unless the user says it") {
  const std::string text =
      ranks(4, 4) + kHeader + "1048576 65536 float none -1 70 10 7.5 N/A 70 10 7.5 N/A\n";
  CHECK(left_out(read_log(text)) ==
        Lines{"7: neither the text nor the columns say which collective this is; state it"});
  LogHints hints;
  hints.op = "all_gather";
  CHECK(only_op(text, hints) == "all_gather");
  hints.op = "broadcast";  // the columns say no
  CHECK(only_op(text, hints).empty());
}

TEST_CASE("several tables of one file have their own collectives and jobs") {
  const std::string row = "1024 256 float sum -1 7 1 1 0 7 1 1 0\n";
  const SampleFile file =
      read_log("$ ./all_reduce_perf\n" + ranks(2, 2) + kHeader + row + "$ ./reduce_scatter_perf\n" +
               ranks(8, 4) + kHeader + "1024 32 float sum -1 7 1 0.88 0 7 1 0.88 0\n");
  REQUIRE(file.samples.size() == 4);
  CHECK(file.samples[0].what == "all_reduce");
  CHECK(file.samples[0].gpus == 2);
  CHECK(file.samples[2].what == "reduce_scatter");
  CHECK(file.samples[2].gpus == 8);
  CHECK(file.samples[2].nodes == 2);
}

TEST_CASE(
    "ranks and nodes without a list of devices come from comments, ratios or the user, otherwise rows are "
    "left out") {
  const std::string table =
      kHeader + "1048576 262144 float sum -1 70 10 18.75 0 70 10 18.75 0\n";  // 1.875 = 2·15/16
  const SampleFile commented = read_log("## ranks: 16\n## nodes: 2\n" + table);
  REQUIRE(commented.samples.size() == 2);
  CHECK(commented.samples[0].gpus == 16);
  CHECK(commented.samples[0].nodes == 2);
  CHECK(left_out(read_log(table)) == Lines{"2: the log does not say on how many nodes it ran; state them"});
  LogHints hints;
  hints.nodes = 2;
  REQUIRE(read_log(table, hints).samples.size() == 2);
  CHECK(read_log(table, hints).samples[0].gpus == 16);
  CHECK(left_out(read_log(kHeader + "8 2 float sum -1 70 0.0 0.0 0 70 0.0 0.0 0\n")) ==
        Lines{"2: the log does not say on how many GPUs it ran; state them"});
}

TEST_CASE("what NCCL prints of its communicator tells ranks and nodes too") {
  const SampleFile file = read_log(
      "server1:7:8 [0] NCCL INFO comm 0x5 rank 0 nranks 4 cudaDev 0 - Init COMPLETE\n"
      "server2:9:8 [0] NCCL INFO comm 0x5 rank 2 nranks 4 cudaDev 0 - Init COMPLETE\n" +
      kOldHeader + "8 2 float sum 8.6 0 0 0\n");
  REQUIRE(file.samples.size() == 1);
  CHECK(file.samples[0].gpus == 4);
  CHECK(file.samples[0].nodes == 2);
}

TEST_CASE("processes that each ran by themselves measured no collective, and the reason says how to build") {
  const SampleFile file = read_log(
      "mpirun -np 2 all_reduce_perf\n# Rank  0 Pid 5 on a device 0 [0x00] V100\n# Rank  0 Pid 6 on b device "
      "0 [0x00] V100\n" +
      kOldHeader + kOldHeader + "8 2 float sum 8.6 0 0 0\n");
  CHECK(left_out(file) == Lines{"6: a rank is listed twice, so every process ran by itself; nccl-tests needs "
                                "to be built with MPI=1"});
}

TEST_CASE("forced algorithm and protocol, the version and processes that drive several GPUs are settings") {
  const std::string one_process =
      "#  Rank 0 Pid 9 on a device 0 [0x00] V100\n#  Rank 1 Pid 9 on a device 1 [0x00] V100\n#  Rank 2 Pid 8 "
      "on b device 0 [0x00] V100\n"
      "#  Rank 3 Pid 8 on b device 1 [0x00] V100\n";
  const SampleFile file =
      read_log("mpirun -x NCCL_ALGO=Ring -x NCCL_PROTO=LL128 all_reduce_perf\n" + one_process +
               "NCCL version 2.18.3+cuda12.1\n" + kOldHeader + "8 2 float sum 8.6 0 0 0\n");
  CHECK(in_words(file) == Lines{"all_reduce 8 8.6 us type=float redop=sum nccl.algorithm=ring "
                                "nccl.protocol=ll128 nccl.version=2.18.3 "
                                "launch.processes_per_node=1"});
  CHECK(file.provenance == Settings{{"gpu", "V100"}, {"host", "a"}, {"nccl", "2.18.3"}, {"cuda", "12.1"}});
}

TEST_CASE("threads of a process that drives several GPUs are a setting, for they launch at the same time") {
  const SampleFile file = read_log(
      "# nThread 2 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 2 iters: 5\n"
      "#  Rank 0 Pid 9 on a device 0 [0x00] V100\n#  Rank 1 Pid 9 on a device 1 [0x00] V100\n" +
      kOldHeader + "8 2 float sum 8.6 0 0 0\n");
  CHECK(in_words(file) ==
        Lines{"all_reduce 8 8.6 us type=float redop=sum launch.processes_per_node=1 nccl_tests.threads=2"});
}

TEST_CASE("a list of algorithms forces none, the version also stands in the line of nccl-tests itself") {
  const SampleFile file =
      read_log("NCCL_ALGO=Ring,Tree\n# nccl-tests version 2.17.6 nccl-headers=21605 nccl-library=22902\n" +
               kTwoRanks + kOldHeader + "8 2 float sum 8.6 0 0 0\n");
  CHECK(in_words(file) == Lines{"all_reduce 8 8.6 us type=float redop=sum nccl.version=2.29.2"});
}

TEST_CASE("iterations are the repeats of a time") {
  const SampleFile file = read_log(
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 50 agg iters: 1\n" +
      kTwoRanks + kOldHeader + "8 2 float sum 8.6 0 0 0\n");
  REQUIRE(file.samples.size() == 1);
  CHECK(file.samples[0].repeats == 50);
}

TEST_CASE(
    "zero bytes, wrong results, zero and non-finite times, decimal commas and cut lines are left out with "
    "the reason") {
  const SampleFile file = read_log("all_reduce_perf\n" + kTwoRanks + kHeader +
                                   "0 0 float sum -1 1 0 0 0 1 0 0 0\n"
                                   "8 2 float sum -1 7 0 0 3 6 0 0 0\n"
                                   "8 2 float sum -1 0.00 0 0 0 nan 0 0 0\n"
                                   "8 2 float sum -1 inf 0 0 0 -4 0 0 0\n"
                                   "8 2 float sum -1 7,5 0 0 0 N/A 0 0 0\n"
                                   "8 2 float sum -1 7 0 0 0 6\n"
                                   "8 2 float sum -1 7\n"
                                   "8 2\n");
  CHECK(file.rows == 8);
  CHECK(in_words(file) ==
        Lines{"all_reduce 8 6 us type=float redop=sum in_place=1", "all_reduce 8 7 us type=float redop=sum"});
  CHECK(left_out(file) ==
        Lines{"13: the line ends early", "6: a message of 0 bytes", "7: 3 elements of its result were wrong",
              "8: the value is 0 us", "8: the value is not a number", "9: the value is infinite",
              "9: the value is negative: -4 us", "10: its time: \"7,5\" is no number; decimals need a point",
              "10: its time: \"N/A\" is no number", "11: the line ends early, in the in-place time",
              "12: the line ends early, in the out-of-place time"});
}

}  // namespace nccl_tests_log_test

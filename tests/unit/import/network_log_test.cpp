// Tests of reading network tests (perftest, OSU) and other benchmarks of collectives (PARAM,
// all_reduce_bench).
#include "tests/support/catch.hpp"
#include "tests/unit/import/sample_logs.hpp"

namespace network_log_test {

using namespace foretrain;
using namespace foretrain::test;
using Lines = std::vector<std::string>;

TEST_CASE("perftest bandwidth is the average column in its unit, with link, device and queue pairs") {
  const SampleFile file = read_log(
      "                    RDMA_Write BW Test\n Dual-port       : OFF          Device         : mlx5_0\n "
      "Number of qps   : 4            "
      "Transport type : IB\n"
      " Link type       : IB\n local address: LID 0x01 QPN 0x1\n remote address: LID 0x02 QPN 0x1\n"
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\nConflicting CPU "
      "frequency values detected: 1 != "
      "2\n"
      " 65536      5000             192.5            192.0              0.17\n");
  CHECK(file.format == "perftest");
  CHECK(file.rows == 1);
  CHECK(in_words(file) == Lines{"write 65536 24 GBps together=4 link=IB device=mlx5_0"});
  CHECK(file.samples[0].nodes == 2);
  CHECK(file.samples[0].repeats == 5000);
}

TEST_CASE(
    "perftest in MB/sec counts 2^20 bytes, both ways is a setting, and one adapter with itself is one node") {
  const SampleFile file = read_log(
      "  Send Bidirectional BW Test\n local address: LID 0x0d QPN 1\n remote address: LID 0x0d QPN 2\n"
      " #bytes  #iterations  BW peak[MB/sec]  BW average[MB/sec]  MsgRate[Mpps]\n 1048576 1000 9000.0 1000.0 "
      "0.1\n");
  CHECK(in_words(file) == Lines{"send 1048576 1.04858 GBps both_ways=1"});
  CHECK(file.samples[0].nodes == 1);
}

TEST_CASE("perftest latency is the typical one with its deviation") {
  const SampleFile file = read_log(
      "  RDMA_Read Latency Test\n Link type       : Ethernet\n"
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
      "99% percentile[usec]\n 8 1000 "
      "1.5 9.0 2.0 2.1 0.5 3.0\n");
  CHECK(in_words(file) == Lines{"latency 8 2 us verb=read link=Ethernet"});
  CHECK(file.samples[0].spread == Approx(0.25));
}

TEST_CASE("rows of perftest that are cut, zero or no number are left out") {
  const SampleFile file = read_log(
      "Send BW Test\n#bytes #iterations BW peak[MB/sec] BW average[MB/sec]\n2 1000 5.0\n4 1000 0.0 0.00\n8 "
      "1000 5 nan\n16 1000 5 5,3\n");
  CHECK(file.samples.empty());
  CHECK(left_out(file) == Lines{"3: the line ends early", "4: the value is 0 GBps",
                                "5: the value is not a number",
                                "6: \"5,3\" is no number; decimals need a point"});
}

TEST_CASE("OSU between two processes: bandwidths of 10^6 bytes, latencies, one-sided calls, memory of GPUs") {
  const SampleFile file = read_log(
      "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1  4.5\n\n# OSU MPI-CUDA Bi-Directional "
      "Bandwidth Test v5.9\n# Size "
      "Bandwidth (MB/s)\n"
      "4194304  51000.00\n# OSU MPI Latency Test v7.2\n# Datatype: MPI_CHAR.\n# Size       Latency (us)\n0  "
      "1.5\n8 1.6\n"
      "# OSU MPI_Put Latency Test v7\n# Size Latency (us)\n8 2.5\n");
  CHECK(file.format == "OSU micro-benchmarks");
  CHECK(file.rows == 5);
  CHECK(in_words(file) == Lines{"send 1 0.0045 GBps", "send 4194304 51 GBps both_ways=1 memory=device",
                                "latency 0 1.5 us verb=send", "latency 8 1.6 us verb=send",
                                "latency 8 2.5 us verb=put"});
  CHECK(file.samples[0].nodes == 2);
}

TEST_CASE(
    "OSU collectives need the ranks and nodes, and count the part of one rank times the ranks where "
    "nccl-tests does") {
  const std::string text =
      "# OSU MPI Allreduce Latency Test v5.9\n# Size Avg Latency(us) Min Latency(us) Max Latency(us) "
      "Iterations\n1024 9.5 9 10 1000\n"
      "# OSU MPI Allgather Latency Test v5.9\n# Size Avg Latency(us)\n1024 20.5\n";
  CHECK(left_out(read_log(text)) ==
        Lines{"3: the log does not say on how many ranks and nodes it ran; state them",
              "6: the log does not say on how many ranks and nodes it ran; state them"});
  LogHints hints;
  hints.gpus = 4, hints.nodes = 2;
  CHECK(in_words(read_log(text, hints)) == Lines{"all_reduce 1024 9.5 us library=mpi memory=host",
                                                 "all_gather 4096 20.5 us library=mpi memory=host"});
  CHECK(in_words(read_log("mpirun -np 4 -npernode 2 osu_allreduce\n" + text)).size() == 2);
}

TEST_CASE("PARAM's lines give the median, and the spread that p95 tells") {
  const SampleFile file = read_log(
      "# world size: 8\n# nodes: 1\n\tCOMMS-RES-all_reduce-float32   1048576  262144  100.0  105.0  132.898  "
      "90.0  140.0  10.4  18.3\n"
      "\tCOMMS-RES-all_to_allv-float32-tag  1024  256  50  51  50  49  55  1 1\n\tCOMMS-RES-pt2pt-float32 1 "
      "1 1 1 1 1 1 1 "
      "1\n\tCOMMS-RES-all_reduce-float32 1048576 41.1 77.2\n");
  CHECK(file.format == "PARAM comms");
  CHECK(in_words(file) ==
        Lines{"all_reduce 1048576 100 us type=float32", "alltoall 1024 50 us type=float32"});
  CHECK(file.samples[0].spread == Approx(0.2).epsilon(1e-3));
  CHECK(file.samples[0].gpus == 8);
  CHECK(left_out(file) == Lines{"5: its collective is none that is modelled",
                                "6: fewer figures than size, elements, five latencies and two bandwidths"});
}

TEST_CASE("all_reduce_bench: ranks from its first lines, nodes from NCCL's, a time from every duration") {
  const SampleFile file = read_log(
      "0 data size: 4.0 GB\n1 data size: 4.0 GB\na:1:2 [0] NCCL INFO x\nb:1:2 [1] NCCL INFO x\n0:\n "
      "duration: 0.5 sec\n algo throughput: 1 "
      "bps, 1 Gbps\n"
      " duration: soon\n duration: 0.25\n");
  CHECK(file.format == "all_reduce_bench");
  CHECK(in_words(file) == Lines{"all_reduce 4000000000 500000 us type=float redop=sum in_place=1"});
  CHECK(file.samples[0].gpus == 2);
  CHECK(file.samples[0].nodes == 2);
  CHECK(left_out(file) == Lines{"8: \"soon\" is no number", "9: the line ends early"});
}

}  // namespace network_log_test

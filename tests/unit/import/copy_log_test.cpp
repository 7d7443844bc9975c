// Tests of reading copies: nvbandwidth as text and JSON, p2pBandwidthLatencyTest, bandwidthTest.
#include "tests/support/catch.hpp"
#include "tests/unit/import/sample_logs.hpp"

namespace copy_log_test {

using namespace foretrain;
using namespace foretrain::test;
using Lines = std::vector<std::string>;

TEST_CASE("matrices of nvbandwidth tell direction, engine and both ends") {
  const SampleFile file = read_log(
      "nvbandwidth Version: v0.8\nCUDA Runtime Version: 12040\nDriver Version: 550.54\nDevice 0: Tesla T4 "
      "(00000000:06:00)\n"
      "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0   "
      "      1\n 0     12.5      "
      "6.25\n\n"
      "SUM host_to_device_memcpy_ce 18.75\n\nRunning device_to_host_bidirectional_memcpy_sm.\n"
      "memcpy SM CPU(row) <-> GPU(column) bandwidth (GB/s)\n           0\n 0     11.0\n\n"
      "Running device_to_device_memcpy_write_ce.\nmemcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n       "
      "    0         1\n 0       N/A "
      "    24.0\n 1      23.0       N/A\n");
  CHECK(file.format == "nvbandwidth");
  CHECK(file.rows == 4);
  CHECK(in_words(file) ==
        Lines{"h2d 0 12.5 GBps memory=pinned src=0 dst=0 engine=ce test=host_to_device_memcpy_ce",
              "h2d 0 6.25 GBps memory=pinned src=0 dst=1 engine=ce test=host_to_device_memcpy_ce",
              "d2h 0 11 GBps memory=pinned src=0 dst=0 both_ways=1 engine=sm "
              "test=device_to_host_bidirectional_memcpy_sm",
              "p2p 0 24 GBps src=1 dst=0 engine=ce test=device_to_device_memcpy_write_ce",
              "p2p 0 23 GBps src=0 dst=1 engine=ce test=device_to_device_memcpy_write_ce"});
  CHECK(file.provenance ==
        Settings{{"nvbandwidth", "v0.8"}, {"cuda", "12040"}, {"driver", "550.54"}, {"gpu", "Tesla T4"}});
}

TEST_CASE("copies of all GPUs at once, latencies and copies inside a GPU are told apart") {
  const SampleFile file = read_log(
      "Running all_to_host_memcpy_ce.\nmemcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)\n 0 1\n 0 9.0 "
      "8.0\n\n"
      "Running host_device_latency_sm.\nmemory latency SM CPU(row) <-> GPU(column) (ns)\n 0\n 0 800\n\n"
      "Running device_local_copy.\nmemcpy local GPU(column) bandwidth (GB/s)\n 0\n 0 700\n");
  CHECK(in_words(file) ==
        Lines{"d2h 0 9 GBps memory=pinned src=0 dst=0 together=2 engine=ce test=all_to_host_memcpy_ce",
              "d2h 0 8 GBps memory=pinned src=1 dst=0 together=2 engine=ce test=all_to_host_memcpy_ce",
              "h2d 0 0.8 us memory=pinned src=0 dst=0 engine=sm test=host_device_latency_sm",
              "d2d 0 700 GBps src=0 test=device_local_copy"});
  CHECK(file.samples[0].gpus == 2);
}

TEST_CASE("a matrix of nvbandwidth whose test was cut away is known by its description") {
  CHECK(in_words(read_log("nvbandwidth Version: v0.8\n...\nmemcpy CE GPU(row) -> GPU(column) bandwidth "
                          "(GB/s)\n 0 1\n 0 N/A 26.5\n")) ==
        Lines{"p2p 0 26.5 GBps src=0 dst=1 engine=ce test=device_to_device_memcpy_ce"});
}

TEST_CASE("waived tests, cut rows, zeros and tests between nodes give no samples of nvbandwidth") {
  const SampleFile file = read_log(
      "nvbandwidth Version: v0.7\nWaived: \nRunning host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> "
      "GPU(column) bandwidth (GB/s)\n 0 1\n "
      "0 0.00 nan\n 1 7,5\n\n"
      "Running multinode_device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth "
      "(GB/s)\n 0\n 0 5\n");
  CHECK(file.samples.empty());
  CHECK(file.rows == 3);
  CHECK(left_out(file) == Lines{"6: the value is 0 GBps", "6: the value is not a number",
                                "7: \"7,5\" is no number; decimals need a point", "7: the line ends early",
                                "12: multinode_device_to_device_memcpy_read_ce is no copy that is modelled"});
}

TEST_CASE("nvbandwidth JSON gives what the text would") {
  const SampleFile file = read_log(
      R"json({"nvbandwidth": {"CUDA Runtime Version": 12040, "Driver Version": "550", "version": "v0.7", "testcases": [
    {"name": "device_to_device_memcpy_read_ce", "status": "Passed", "bandwidth_description": "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
     "bandwidth_matrix": [["N/A", "24.25"], ["24.5", "N/A"]], "sum": 48.75}, {"name": "x", "status": "Waived"}]}})json");
  CHECK(file.format == "nvbandwidth JSON");
  CHECK(file.rows == 2);
  CHECK(in_words(file) ==
        Lines{"p2p 0 24.25 GBps src=0 dst=1 engine=ce test=device_to_device_memcpy_read_ce",
              "p2p 0 24.5 GBps src=1 dst=0 engine=ce test=device_to_device_memcpy_read_ce"});
  CHECK(left_out(read_log("{\"testcases\": [")) ==
        Lines{"1: the JSON is not complete, so nothing of it is read"});
}

TEST_CASE(
    "matrices between peers: the diagonal is inside a GPU, no access is a setting, CPU latency is time of "
    "the host") {
  const SampleFile file = read_log(
      "Device: 0, NVIDIA RTX A1, pciBusID: 1\nDevice=0 CANNOT Access Peer Device=1\nP2P Connectivity "
      "Matrix\n D\\D 0 1\n 0 1 0\n 1 1 1\n"
      "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1\n     0 541.5   "
      "5.5\n     1   25.5 543.5\n"
      "Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 540.0   6.5\n"
      "P2P=Disabled Latency Matrix (us)\n   GPU     0      1\n     0   1.5  14.5\n\n   CPU     0      1\n    "
      " 0   3.5  11.5\n");
  CHECK(file.format == "p2pBandwidthLatencyTest");
  CHECK(file.rows == 5);
  CHECK(in_words(file) == Lines{"d2d 0 541.5 GBps src=0", "p2p 0 5.5 GBps src=0 dst=1 peer=0",
                                "p2p 0 25.5 GBps src=1 dst=0", "d2d 0 543.5 GBps src=1",
                                "d2d 0 540 GBps src=0 both_ways=1",
                                "p2p 0 6.5 GBps src=0 dst=1 both_ways=1 peer=0", "d2d 0 1.5 us src=0",
                                "p2p 0 14.5 us src=0 dst=1 peer=0", "copy_call 0 3.5 us src=0",
                                "copy_call 0 11.5 us src=0 dst=1 peer=0"});
  CHECK(file.samples.back().kind == SampleKind::host);
  CHECK(file.provenance == Settings{{"gpu", "NVIDIA RTX A1"}});
}

TEST_CASE("a matrix between peers that was cut keeps what it has") {
  const SampleFile file =
      read_log("Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n D\\D 0 1\n 0 500 5\n 1 5\n");
  CHECK(file.samples.size() == 3);
  CHECK(left_out(file) == Lines{"4: the line ends early"});
}

TEST_CASE("bandwidthTest: tables of either unit, pageable memory, and lines of its CSV mode") {
  const SampleFile file = read_log(
      " Device 0: Quadro\n Host to Device Bandwidth, 1 Device(s)\n PINNED Memory Transfers\n   Transfer Size "
      "(Bytes)        "
      "Bandwidth(GB/s)\n   32000000   12.5\n\n"
      " Device to Host Bandwidth, 2 Device(s)\n PAGEABLE Memory Transfers\n   Transfer Size (Bytes)        "
      "Bandwidth(MB/s)\n   1024   "
      "1000\n   2048 2000.0\n\n"
      "bandwidthTest-D2D, Bandwidth = 500.5 GB/s, Time = 0.00006 s, Size = 32000000 bytes, NumDevsUsed = "
      "1\n");
  CHECK(file.rows == 4);
  CHECK(in_words(file) ==
        Lines{"h2d 32000000 12.5 GBps memory=pinned", "d2h 1024 1.04858 GBps memory=pageable together=2",
              "d2h 2048 2.09715 GBps memory=pageable together=2", "d2d 32000000 500.5 GBps"});
}

TEST_CASE("the CSV line of bandwidthTest for a copy inside a GPU needs no memory in its name") {
  const SampleFile file = read_log(
      "bandwidthTest-H2D-Paged, Bandwidth = 6.5 GB/s, Time = 1 s, Size = 10 bytes, NumDevsUsed = "
      "1\nbandwidthTest-H2D-Pinned, Bandwidth = "
      "6\n");
  CHECK(in_words(file) == Lines{"h2d 10 6.5 GBps memory=pageable"});
  CHECK(left_out(file) == Lines{"2: the line ends early"});
}

}  // namespace copy_log_test

// Tests of finding the format of a log, of logs with several formats, and of bad input of every kind.
#include <set>

#include "sim/import/logs/readers.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/sample_logs.hpp"

namespace sample_log_test {

using namespace foretrain;
using namespace foretrain::test;
using Lines = std::vector<std::string>;

namespace {

const std::string kRanks =
    "# Rank 0 Pid 5 on a device 0 [0x00] V100\n# Rank 1 Pid 6 on a device 1 [0x00] V100\n";
const std::string kTable =
    "# size count type redop time algbw busbw error time algbw busbw error\n8 2 float sum 8.5 0 0 0 8.4 0 0 "
    "0\n";

/// Texts with one thing of each format.
const Lines kOfEach{kRanks + kTable,
                    "Running device_local_copy.\nmemcpy local GPU(column) bandwidth (GB/s)\n 0\n 0 700\n",
                    "P2P=Disabled Latency Matrix (us)\n GPU 0 1\n 0 1 2\n",
                    "Host to Device Bandwidth, 1 Device(s)\nPINNED Memory Transfers\nTransfer Size (Bytes) "
                    "Bandwidth(GB/s)\n1000 5\n",
                    "Send BW Test\n#bytes #iterations BW peak[MB/sec] BW average[MB/sec]\n2 1000 5 5\n",
                    "# OSU MPI Latency Test\n# Size Latency (us)\n8 1.5\n"};

/// Samples of a text; 0 for one that is refused.
std::size_t samples_in(const std::string& text) {
  try {
    return read_log(text).samples.size();
  } catch (const InputError& error) {
    CHECK_FALSE(error.diagnostics().empty());
    return 0;
  }
}

}  // namespace

TEST_CASE("unknown, empty and binary texts are refused, with the formats that are read") {
  CHECK(why_refused("hello\n").find("holds no measurements of a known format") != std::string::npos);
  CHECK(why_refused("hello\n").find("nccl-tests, ") != std::string::npos);
  CHECK(why_refused("").find("holds no measurements of a known format") != std::string::npos);
  CHECK(why_refused(std::string("\x7f"
                                "ELF\0\1",
                                6))
            .find("is not a text file") != std::string::npos);
}

TEST_CASE("a samples CSV is read as one") {
  const SampleFile file =
      read_log("# gpu: V100\n" + std::string(kSamplesHeader) + "\nhost,event,1,1,0,2.5,us,0,3,,x\n");
  CHECK(file.format == "samples CSV");
  CHECK(file.rows == 1);
  CHECK(file.samples.size() == 1);
  CHECK(file.provenance == Settings{{"gpu", "V100"}});
  CHECK(why_refused("kind,what,unit,colour\n").find("unknown column \"colour\"") != std::string::npos);
}

TEST_CASE("several formats in one text are all read, in the order of lines") {
  std::string text;
  for (const std::string& part : kOfEach) text += "## A section\n\n" + part + "\n";
  const SampleFile file = read_log(text);
  CHECK(
      file.format ==
      "nccl-tests + nvbandwidth + p2pBandwidthLatencyTest + bandwidthTest + perftest + OSU micro-benchmarks");
  Lines what;
  for (const Sample& sample : file.samples) what.push_back(sample.what);
  CHECK(what == Lines{"all_reduce", "all_reduce", "d2d", "d2d", "p2p", "h2d", "send", "latency"});
  CHECK(file.skipped.empty());
}

TEST_CASE("comments at the top say where a log is from, and never overrule it") {
  const SampleFile file = read_log("## source: a page\n## gpu: other\n## driver: 550\n" + kRanks + kTable);
  CHECK(file.provenance == Settings{{"gpu", "V100"}, {"host", "a"}, {"driver", "550"}, {"source", "a page"}});
}

TEST_CASE("every log may be cut at any byte") {
  for (const std::string& whole : kOfEach) {
    const std::size_t samples = read_log(whole).samples.size();
    for (std::size_t end = 0; end < whole.size(); ++end) CHECK(samples_in(whole.substr(0, end)) <= samples);
  }
}

TEST_CASE("Chinese text, Windows line ends, colours and wrong bytes around a table do no harm") {
  const SampleFile file = read_log("\xEF\xBB\xBF# \xE6\xB5\x8B\xE8\xAF\x95\r\n\x1b[1m" + kRanks +
                                   "\xff\xfe\r\n" + kTable + "\x80\r\n");
  CHECK(file.samples.size() == 2);
}

TEST_CASE("names with wrong bytes become text") {
  const SampleFile file = read_log("# Rank 0 Pid 5 on h\xff device 0 [0x00] V100\n" + kTable);
  CHECK(file.provenance == Settings{{"gpu", "V100"}, {"host", "h\\xff"}});
}

TEST_CASE("lines of many megabytes are read to their end") {
  for (const std::string& whole : kOfEach) {
    read_log(whole + std::string(4u << 20, '9') + "\n" + whole);
    read_log(whole + "8 2 float sum " + std::string(1u << 20, ' ') + "1\n");
    std::string many;
    while (many.size() < (1u << 20)) many += "algbw size _perf LID [ img/s ";
    read_log(whole + many);
  }
}

TEST_CASE("each format of the catalog has a name of its own and says what it is") {
  std::set<std::string_view> names;
  for (const LogFormat& format : log_formats()) {
    CHECK_FALSE(format.what.empty());
    CHECK(names.insert(format.name).second);
  }
}

TEST_CASE("a thousand reasons are kept, and the others are counted") {
  std::string text = kRanks + "# size count type redop time algbw busbw error time algbw busbw error\n";
  for (int i = 0; i < 3000; ++i) text += "8 2 float sum nan 0 0 0\n";
  const SampleFile file = read_log(text);
  CHECK(file.rows == 3000);
  REQUIRE(file.skipped.size() == 1000);
  CHECK(file.skipped.back().why == "this line and 2000 more below it were left out too");
}

}  // namespace sample_log_test

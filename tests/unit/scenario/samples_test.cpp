// Tests of samples as CSV: round trip, provenance, every wrong field with its place, and what is skipped with
// its reason.
#include "sim/scenario/csv/samples.hpp"

#include <limits>

#include <fmt/format.h>

#include "sim/scenario/csv/sample_sheet.hpp"
#include "tests/support/catch.hpp"

namespace samples_test {

using namespace foretrain;

namespace {

const std::string kHeader = std::string(kSamplesHeader) + "\n";

struct ReadFile {
  SampleFile file;
  std::string errors;
};

ReadFile read(const std::string& text) {
  const SourceText source{"s.csv", text};
  Diagnostics diagnostics(source);
  SampleFile file = read_samples_csv(source, diagnostics);
  return {file, format(diagnostics.found())};
}

/// Why the only row below the header is left out; empty when it is not.
std::string why_skipped(const std::string& row) {
  const auto [file, errors] = read(kHeader + row + "\n");
  REQUIRE(errors.empty());
  REQUIRE(file.rows == 1);
  REQUIRE(file.samples.size() + file.skipped.size() == 1);
  if (!file.skipped.empty()) CHECK(file.skipped[0].line == 2);
  return file.skipped.empty() ? "" : file.skipped[0].why;
}

Sample example() {
  Sample sample;
  sample.kind = SampleKind::copy, sample.what = "p2p", sample.gpus = 2, sample.bytes = 1 << 20,
  sample.value = 24.25;
  sample.unit = SampleUnit::gigabytes_per_s, sample.spread = 0.1, sample.repeats = 7;
  sample.settings = {{"src", "0"}, {"dst", "1"}};
  sample.source = "logs/a.txt", sample.line = 2;
  return sample;
}

}  // namespace

TEST_CASE("a row of samples gives every field") {
  const auto [file, errors] = read(
      kHeader + "collective,all_reduce,16,2,8388608,123.5,us,0.02,20,nccl.algorithm=ring;in_place=1,a.log\n");
  REQUIRE(errors.empty());
  REQUIRE(file.skipped.empty());
  CHECK(file.format == "samples CSV");
  CHECK(file.rows == 1);
  REQUIRE(file.samples.size() == 1);
  const Sample& s = file.samples[0];
  CHECK(s.kind == SampleKind::collective);
  CHECK(s.what == "all_reduce");
  CHECK(s.gpus == 16);
  CHECK(s.nodes == 2);
  CHECK(s.bytes == 8388608);
  CHECK(s.value == 123.5);
  CHECK(s.unit == SampleUnit::us);
  CHECK(s.spread == 0.02);
  CHECK(s.repeats == 20);
  CHECK(setting_of(s, "nccl.algorithm") == "ring");
  CHECK(setting_of(s, "in_place") == "1");
  CHECK(setting_of(s, "nccl.protocol").empty());
  CHECK(s.source == "a.log");
  CHECK(s.line == 2);
}

TEST_CASE("samples that are written read back equal, with every kind and unit") {
  std::vector<Sample> samples;
  for (std::size_t kind = 0; kind < kSampleKinds; ++kind) {
    Sample sample = example();
    sample.kind = static_cast<SampleKind>(kind),
    sample.unit = static_cast<SampleUnit>(kind % kSampleUnitNames.size());
    sample.value = 1.0 / (3.0 + static_cast<double>(kind));
    sample.line = static_cast<int>(kind) + 2;
    samples.push_back(sample);
  }
  const auto [file, errors] = read(write_samples_csv({}, samples));
  REQUIRE(errors.empty());
  CHECK(file.samples == samples);
}

TEST_CASE("sources with commas and quotes, and provenance, survive being written") {
  Sample sample = example();
  sample.source = "a \"quoted\" page, second table", sample.line = 4;
  const Settings provenance{{"gpu", "A100-SXM4-40GB"}, {"date", "2026-11-22: noon"}};
  const auto [file, errors] = read(write_samples_csv(provenance, {sample}));
  REQUIRE(errors.empty());
  CHECK(file.provenance == provenance);
  CHECK(file.samples == std::vector<Sample>{sample});
}

TEST_CASE(
    "what a CSV row cannot hold becomes a neighbour of it: line breaks spaces, semicolons in settings "
    "commas") {
  Sample sample = example();
  sample.source = "two\nlines", sample.settings = {{"note", "a;b"}};
  const auto [file, errors] = read(write_samples_csv({{"a key", "two\nlines"}}, {sample}));
  REQUIRE(errors.empty());
  CHECK(file.samples.at(0).source == "two lines");
  CHECK(setting_of(file.samples.at(0), "note") == "a,b");
  CHECK(file.provenance == Settings{{"a_key", "two lines"}});
}

TEST_CASE("provenance is the comments above the header that name one word and a colon") {
  const auto [file, errors] = read("# gpu: V100\n## host: n1\n# free text: not a key\n#\n#driver:550\n\n" +
                                   kHeader + "# cuda: 12.4\n");
  REQUIRE(errors.empty());
  CHECK(file.provenance == Settings{{"gpu", "V100"}, {"host", "n1"}, {"driver", "550"}});
}

TEST_CASE("columns stand in any order, a byte order mark, CRLF and comments between rows are no harm") {
  const auto [file, errors] = read(
      "\xEF\xBB\xBF# gpu: T4\r\nsource,settings,repeats,spread,unit,value,bytes,nodes,gpus,what,kind\r\n# "
      "note\r\nx,,3,0,us,5.5,0,1,1,launch_latency,host\r\n");
  REQUIRE(errors.empty());
  REQUIRE(file.samples.size() == 1);
  CHECK(file.samples[0].what == "launch_latency");
  CHECK(file.samples[0].value == 5.5);
  CHECK(file.samples[0].repeats == 3);
  CHECK(file.provenance == Settings{{"gpu", "T4"}});
}

TEST_CASE("empty counts, sizes and spreads are those of one GPU, no size, and an unknown spread") {
  const auto [file, errors] = read(kHeader + "host,sync_wake,,,,7,us,,,,\n");
  REQUIRE(file.samples.size() == 1);
  Sample plain;
  plain.kind = SampleKind::host, plain.what = "sync_wake", plain.value = 7, plain.line = 2;
  CHECK(file.samples[0] == plain);
}

TEST_CASE("a wrong field keeps its row out and is named with its column") {
  CHECK(why_skipped("colective,all_reduce,2,1,8,5,us,0,1,,") ==
        "column 1: kind \"colective\": did you mean \"collective\"?");
  CHECK(why_skipped("collective,,2,1,8,5,us,0,1,,") == "column 12: what \"\": is empty");
  CHECK(why_skipped("copy,h2d,-1,1,8,5,us,0,1,,") ==
        "column 10: gpus \"-1\": must be an integer from 0 to 10000000");
  CHECK(why_skipped("copy,h2d,1,0,8,5,us,0,1,,") ==
        "column 12: nodes \"0\": must be an integer from 1 to 10000000");
  CHECK(why_skipped("copy,h2d,1,1,8e3,5,us,0,1,,") ==
        "column 14: bytes \"8e3\": must be an integer from 0 to 1125899906842624");
  CHECK(why_skipped("copy,h2d,1,1,8,fast,us,0,1,,") == "column 16: value \"fast\": must be a finite number");
  CHECK(why_skipped("copy,h2d,1,1,8,5,GB/s,0,1,,").starts_with("column 18: unit \"GB/s\": "));
  CHECK(why_skipped("copy,h2d,1,1,8,5,us,wide,1,,") == "column 21: spread \"wide\": must be a finite number");
  CHECK(why_skipped("copy,h2d,1,1,8,5,us,0,0,,") ==
        "column 23: repeats \"0\": must be an integer from 1 to 1000000000");
  CHECK(why_skipped("copy,h2d,1,1,8,5,us,0,1,pinned,") ==
        "column 25: settings \"pinned\": has \"pinned\", which is not key=value");
}

TEST_CASE("NaN, infinite, zero and negative values are left out, shares may be zero or less") {
  CHECK(why_skipped("copy,h2d,1,1,8,nan,us,0,1,,") == "column 16: value \"nan\": must be a finite number");
  CHECK(why_skipped("copy,h2d,1,1,8,inf,us,0,1,,") == "column 16: value \"inf\": must be a finite number");
  CHECK(why_skipped("copy,h2d,1,1,8,1e999,us,0,1,,") ==
        "column 16: value \"1e999\": must be a finite number");
  CHECK(why_skipped("copy,h2d,1,1,8,0,us,0,1,,") == "the value is 0 us");
  CHECK(why_skipped("copy,h2d,1,1,8,-4,GBps,0,1,,") == "the value is negative: -4 GBps");
  CHECK(why_skipped("copy,h2d,1,1,8,1e-300,us,0,1,,") == "the value is not from 1e-09 to 1e+15 us");
  CHECK(why_skipped("copy,h2d,1,1,8,1e300,GBps,0,1,,") == "the value is not from 1e-09 to 1e+15 GBps");
  CHECK(why_skipped("tax,gemm,1,1,8,0,share,0,1,,").empty());
  CHECK(why_skipped("tax,gemm,1,1,8,-0.01,share,0,1,,").empty());
}

TEST_CASE("a job on more nodes than GPUs is no job, two hosts of a network test are two hosts") {
  CHECK(why_skipped("collective,all_reduce,2,4,8,5,us,0,1,,") == "4 nodes for 2 GPUs");
  CHECK(why_skipped("network,write,0,2,8,5,us,0,1,,").empty());
}

TEST_CASE("rows of the wrong length and with broken quotes are left out") {
  CHECK(why_skipped("copy,h2d,1,1") ==
        "4 fields, the header has 11; a field that holds a comma stands in quotes");
  CHECK(why_skipped("copy,h2d,1,1,8,5,us,0,1,,\"x") == "column 26: the quote is not closed on this line");
}

TEST_CASE("a header with unknown, missing and repeated columns is refused with all of them") {
  const auto [file, errors] = read("kind,what,gpu,nodes,bytes,value,unit,spread,repeats,settings,settings\n");
  CHECK(errors.find("unknown column \"gpu\"") != std::string::npos);
  CHECK(errors.find("did you mean \"gpus\"") != std::string::npos);
  CHECK(errors.find("the column \"settings\" is there twice") != std::string::npos);
  CHECK(errors.find("the column \"gpus\" is missing") != std::string::npos);
  CHECK(errors.find("the column \"source\" is missing") != std::string::npos);
  CHECK(file.rows == 0);
}

TEST_CASE("binary and empty texts have no samples") {
  CHECK(read(std::string("\0\1\2", 3)).errors.find("is not a text file") != std::string::npos);
  CHECK(read("# gpu: V100\n").errors.find("has no header line") != std::string::npos);
}

TEST_CASE("a samples CSV is known by kind, what and unit in its first line") {
  CHECK(is_samples_csv("# gpu: V100\n" + kHeader));
  CHECK(is_samples_csv("unit,what,kind\n"));
  CHECK_FALSE(is_samples_csv("series,cluster,op,gpus,nodes,bytes,time_us,settings,source\n"));
  CHECK_FALSE(is_samples_csv(""));
}

TEST_CASE("a file with more rows than are read says so once") {
  std::string text = kHeader;
  for (std::size_t i = 0; i < kMostSamples + 2; ++i) text += "host,event,1,1,0,1,us,0,1,,\n";
  const auto [file, errors] = read(text);
  CHECK(file.samples.size() == kMostSamples);
  REQUIRE(file.skipped.size() == 1);
  CHECK(file.skipped[0].why == "nothing below is read: a file holds at most 1000000 rows");
}

TEST_CASE("reasons are remembered up to a number, and the rest is counted") {
  SampleSheet sheet("a.log", "nccl-tests");
  for (int line = 1; line <= 1500; ++line) sheet.skip(line, "no number");
  const SampleFile file = sheet.take();
  REQUIRE(file.skipped.size() == kMostSkippedLines);
  CHECK(file.skipped[0].why == "no number");
  CHECK(file.skipped.back() == SkippedLine{1000, "this line and 500 more below it were left out too"});
}

TEST_CASE("a fact keeps its first value, and an empty one is no fact") {
  SampleSheet sheet("a.log", "nccl-tests");
  sheet.state("gpu", "");
  sheet.state("gpu", "V100");
  sheet.state("gpu", "A100");
  CHECK(sheet.stated("gpu") == "V100");
  CHECK(sheet.take().provenance == Settings{{"gpu", "V100"}});
}

}  // namespace samples_test

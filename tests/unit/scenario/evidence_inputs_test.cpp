// Inputs of evidence survive being written and read, whatever stands in them, and are nothing to the reader
// of rows.
#include "sim/scenario/csv/evidence_inputs.hpp"

#include "sim/scenario/csv/evidence_rows.hpp"
#include "tests/support/catch.hpp"

namespace evidence_inputs_test {

using namespace foretrain;

namespace {

Measurement odd_measurement(const std::string& name) {
  Measurement m;
  m.series = name, m.model = name, m.cluster = name, m.strategy = name, m.precision = name, m.source = name;
  m.batch_per_gpu = 48, m.gpus = 8, m.nodes = 2;
  m.metric = Measurement::Metric::epoch_s, m.value = 0.1 + 0.2;
  m.settings = {{"strategy.bucket_cap", "10 MiB"}, {"framework.name", "\"tensorflow\""}};
  return m;
}

constexpr const char* kOddNames[] = {"plain",  "a,b", "\"q\"", "# training \"own\"", "\\x41\\", "\x1b[31m",
                                     "\u00e9", "'",   " a "};

}  // namespace

TEST_CASE("a training is read back with every digit and character") {
  for (const char* name : kOddNames) {
    const Measurement m = odd_measurement(name);
    const std::string line = input_line(input_of(m, name).value());
    INFO(line);
    CHECK(std::count(line.begin(), line.end(), '\n') == 1);
    CHECK(std::none_of(line.begin(), line.end() - 1,
                       [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
    const auto inputs = read_inputs("# another comment\nstep,own\n" + line);
    REQUIRE(inputs.size() == 1);
    CHECK(inputs[0].source() == name);
    const MeasurementFile file = measurements_of(inputs);
    REQUIRE(file.scaling.size() == 1);
    const Measurement& read = file.scaling.front();
    CHECK(read.series == m.series);
    CHECK(read.precision == m.precision);
    CHECK(read.source == m.source);
    CHECK(read.settings == m.settings);
    CHECK(read.value == m.value);
    CHECK(read.metric == m.metric);
    CHECK(read.batch_per_gpu == 48);
    CHECK(read.gpus == 8);
    CHECK(read.nodes == 2);
  }
}

TEST_CASE("a collective and a job are read back, too, the scenario with its lines") {
  CollectiveMeasurement m;
  m.series = "mine", m.cluster = "puhti", m.op = "all_reduce", m.gpus = 4, m.bytes = 1 << 20,
  m.time_us = 12.5;
  const CollectiveMeasurement read = measurements_of({input_of(m, "own").value()}).collective.at(0);
  CHECK(read.op == "all_reduce");
  CHECK(read.bytes == m.bytes);
  CHECK(read.time_us == m.time_us);
  JobInput job{"own", "job 17", 8,
               2,     3601.5,   {"scenario.toml", "[model]\nname = \"a \\\"b\\\"\"\r\n\tx = '\\x41'\n"}};
  const auto inputs = read_inputs(input_line(input_of(job)));
  REQUIRE(inputs.size() == 1);
  const JobInput again = job_of(inputs[0]);
  CHECK(again.scenario.text == job.scenario.text);
  CHECK(again.run == "job 17");
  CHECK(again.gpus == 8);
  CHECK(again.spread_nodes == 2);
  CHECK(again.elapsed_s == 3601.5);
}

TEST_CASE("a setting that its column cannot hold leaves no input, and damaged lines are comments") {
  Measurement m = odd_measurement("a");
  m.settings = {{"model.layers", "a;b=c"}};
  CHECK_FALSE(input_of(m, "own"));
  CHECK(read_inputs("# training own,too,few\n# training \"open\n# jobs are here\n#\n# job \n").empty());
  EvidenceInput job{EvidenceInput::Kind::job, {"own", "job 1", "-1", "0", "1", "", "x"}};
  CHECK_THROWS_AS(job_of(job), InputError);
  job.fields[2] = "1", job.fields[4] = "nan";
  CHECK_THROWS_AS(job_of(job), InputError);
  job.fields[4] = "1", job.fields[6] = "";
  CHECK_THROWS_AS(job_of(job), InputError);
}

TEST_CASE("two statements of one measurement have one identity, and other measurements another") {
  Measurement m = odd_measurement("a");
  const std::string identity = input_of(m, "own")->identity();
  m.settings.clear(), m.strategy = "horovod", m.precision = "fp16";
  CHECK(input_of(m, "own")->identity() == identity);
  m.value = 7;
  CHECK(input_of(m, "own")->identity() != identity);
  m.value = 0.1 + 0.2, m.gpus = 4;
  CHECK(input_of(m, "own")->identity() != identity);
}

TEST_CASE("the reader of rows does not see inputs") {
  const std::string line = input_line(input_of(odd_measurement("a"), "own").value());
  const SourceText text{"store.csv", evidence_heading() + line + line};
  EvidenceTable table;
  CHECK_FALSE(read_or_throw(text, [&table](const SourceText& source, Diagnostics& diagnostics) {
    return read_evidence(source, diagnostics, table);
  }));
  CHECK(table.size() == 0);
}

}  // namespace evidence_inputs_test

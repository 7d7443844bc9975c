// Tests of measurement files: all kinds, quotes, columns by name, and every wrong field under its caret.
#include "sim/scenario/csv/measurements.hpp"

#include "sim/scenario/csv/csv_line.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured.hpp"
#include "tests/unit/scenario/read_rows.hpp"

namespace measurements_test {

using namespace foretrain;

namespace {

const std::string kScaling =
    "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n";
const std::string kCollective = "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\n";

/// Rows of a file of docs/measured.
int rows_of(const std::string& name) {
  const SourceText source = read_text_file((test::kMeasured / name).string(), kLargestMeasurements);
  Diagnostics diagnostics(source);
  const MeasurementFile file = read_measurements(source, diagnostics);
  INFO(format(diagnostics.found()));
  CHECK(diagnostics.empty());
  return static_cast<int>(file.scaling.size() + file.collective.size());
}

}  // namespace

TEST_CASE("a row of a training run gives every field") {
  const auto [file, errors] = test::read_rows(
      kScaling +
      "a,resnet50,puhti,ddp,fp32,32,8,2,samples_per_s,2420.71,nccl.version=2.18;data.workers=4,results.md\n");
  REQUIRE(errors.empty());
  REQUIRE(file.kind == MeasurementFile::Kind::scaling);
  REQUIRE(file.scaling.size() == 1);
  const Measurement& m = file.scaling[0];
  CHECK(m.series == "a");
  CHECK(m.model == "resnet50");
  CHECK(m.cluster == "puhti");
  CHECK(m.strategy == "ddp");
  CHECK(m.precision == "fp32");
  CHECK(m.batch_per_gpu == 32);
  CHECK(m.gpus == 8);
  CHECK(m.nodes == 2);
  CHECK(m.metric == Measurement::Metric::samples_per_s);
  CHECK(m.value == 2420.71);
  CHECK(m.settings == Settings{{"nccl.version", "2.18"}, {"data.workers", "4"}});
  CHECK(m.source == "results.md");
  CHECK(m.line == 2);
}

TEST_CASE("a row of a collective gives every field") {
  const auto [file, errors] = test::read_rows(kCollective + "p,polaris,all_gather,512,128,8192,4051.7,,x\n");
  REQUIRE(errors.empty());
  REQUIRE(file.kind == MeasurementFile::Kind::collective);
  REQUIRE(file.collective.size() == 1);
  const CollectiveMeasurement& m = file.collective[0];
  CHECK(m.series == "p");
  CHECK(m.cluster == "polaris");
  CHECK(m.op == "all_gather");
  CHECK(m.gpus == 512);
  CHECK(m.nodes == 128);
  CHECK(m.bytes == 8192);
  CHECK(m.time_us == 4051.7);
  CHECK(m.settings.empty());
  CHECK(m.source == "x");
  CHECK(m.line == 2);
}

TEST_CASE("columns may stand in any order") {
  const auto [file, errors] = test::read_rows(
      "time_us,bytes,nodes,gpus,op,cluster,series,source,settings\n5.5,64,1,2,reduce,c,s,src,a=b\n");
  REQUIRE(errors.empty());
  REQUIRE(file.collective.size() == 1);
  CHECK(file.collective[0].time_us == 5.5);
  CHECK(file.collective[0].series == "s");
  CHECK(file.collective[0].settings == Settings{{"a", "b"}});
}

TEST_CASE("comments, empty lines, CRLF and a byte order mark are passed over, and lines still count") {
  const auto [file, errors] =
      test::read_rows("\xEF\xBB\xBF# a title\r\n\r\n" + kCollective.substr(0, kCollective.size() - 1) +
                      "\r\n# more\r\np,c,reduce,2,1,8,1,,x\r\n");
  REQUIRE(errors.empty());
  REQUIRE(file.collective.size() == 1);
  CHECK(file.collective[0].source == "x");
  CHECK(file.collective[0].line == 5);
}

TEST_CASE("a field in quotes may hold commas and doubled quotes") {
  const auto [file, errors] =
      test::read_rows(kCollective + "\"a, b\",c,reduce,2,1,8,1,,\"the \"\"best\"\", he said\"");
  REQUIRE(errors.empty());
  REQUIRE(file.collective.size() == 1);
  CHECK(file.collective[0].series == "a, b");
  CHECK(file.collective[0].source == "the \"best\", he said");
}

TEST_CASE("a file that ends in a comma has an empty last field") {
  CsvLines lines("a,b,\n\"\"");
  const auto first = lines.next();
  REQUIRE(first);
  REQUIRE(first->size() == 3);
  CHECK((*first)[2].text.empty());
  CHECK((*first)[2].span == SourceSpan{1, 5, 1});
  const auto second = lines.next();
  REQUIRE(second);
  REQUIRE(second->size() == 1);
  CHECK((*second)[0].text.empty());
  CHECK((*second)[0].span == SourceSpan{2, 1, 2});
  CHECK_FALSE(lines.next());
}

TEST_CASE("every wrong field of a row is reported with the caret under it") {
  CHECK(test::read_rows(kScaling + "a,,puhti,ddp,fp32,0,8.5,2,samples_per_sec,-1,no,\n").errors ==
        "m.csv:2:3: error: model is empty\n"
        "  2 | a,,puhti,ddp,fp32,0,8.5,2,samples_per_sec,-1,no,\n"
        "    |   ^\n"
        "m.csv:2:19: error: batch_per_gpu must be an integer from 1 to 1000000000\n"
        "  2 | a,,puhti,ddp,fp32,0,8.5,2,samples_per_sec,-1,no,\n"
        "    |                   ^\n"
        "m.csv:2:21: error: gpus must be an integer from 1 to 10000000\n"
        "  2 | a,,puhti,ddp,fp32,0,8.5,2,samples_per_sec,-1,no,\n"
        "    |                     ^^^\n"
        "m.csv:2:27: error: unknown metric \"samples_per_sec\"\n"
        "  2 | a,,puhti,ddp,fp32,0,8.5,2,samples_per_sec,-1,no,\n"
        "    |                           ^^^^^^^^^^^^^^^\n"
        "  hint: did you mean \"samples_per_s\"?\n"
        "m.csv:2:43: error: value must be a number more than zero\n"
        "  2 | a,,puhti,ddp,fp32,0,8.5,2,samples_per_sec,-1,no,\n"
        "    |                                           ^^\n"
        "m.csv:2:46: error: the setting \"no\" is not key=value\n"
        "  2 | a,,puhti,ddp,fp32,0,8.5,2,samples_per_sec,-1,no,\n"
        "    |                                              ^^\n"
        "  hint: several settings are separated by ';'\n"
        "6 errors\n");
}

TEST_CASE("an unknown op gets a suggestion") {
  CHECK(test::read_rows(kCollective + "p,c,allreduce,2,1,8,1,,x\n").errors ==
        "m.csv:2:5: error: unknown op \"allreduce\"\n"
        "  2 | p,c,allreduce,2,1,8,1,,x\n"
        "    |     ^^^^^^^^^\n"
        "  hint: did you mean \"all_reduce\" or \"reduce\"?\n");
}

TEST_CASE("more nodes than GPUs cannot be") {
  CHECK(test::read_rows(kCollective + "p,c,reduce,2,3,8,1,,x\n").errors ==
        "m.csv:2:14: error: 3 nodes for 2 GPUs\n"
        "  2 | p,c,reduce,2,3,8,1,,x\n"
        "    |              ^\n"
        "  hint: every node in use has at least one GPU of the job\n");
}

TEST_CASE("numbers that are no numbers are wrong") {
  for (const std::string number : {"nan", "inf", "0", "1e999", "1,5", "", "5 us", "0x10"}) {
    CHECK_FALSE(test::read_rows(kCollective + "p,c,reduce,2,1,8," + number + ",,x\n").errors.empty());
  }
  for (const std::string number : {"-1", "9223372036854775808", "1e3", " 8", "8.0"}) {
    CHECK_FALSE(test::read_rows(kCollective + "p,c,reduce,2,1," + number + ",1,,x\n").errors.empty());
  }
}

TEST_CASE("a row with a field too many points at it, one with too few at its last") {
  CHECK(test::read_rows(kCollective + "p,c,reduce,2,1,8,1,,x,y\np,c,reduce\n").errors ==
        "m.csv:2:23: error: 10 fields, the header has 9\n"
        "  2 | p,c,reduce,2,1,8,1,,x,y\n"
        "    |                       ^\n"
        "  hint: a field that holds a comma stands in quotes\n"
        "m.csv:3:5: error: 3 fields, the header has 9\n"
        "  3 | p,c,reduce\n"
        "    |     ^^^^^^\n"
        "  hint: a field that holds a comma stands in quotes\n"
        "2 errors\n");
}

TEST_CASE("broken quotes are reported at the field") {
  CHECK(test::read_rows(kCollective + "\"p,c,reduce\np\"q,\"c\"d,reduce,2,1,8,1,,x\n").errors ==
        "m.csv:2:1: error: the quote is not closed on this line\n"
        "  2 | \"p,c,reduce\n"
        "    | ^^^^^^^^^^^\n"
        "  hint: put the whole field in quotes and double the quotes inside\n"
        "m.csv:3:1: error: there is a quote inside a field that does not begin with one\n"
        "  3 | p\"q,\"c\"d,reduce,2,1,8,1,,x\n"
        "    | ^^^\n"
        "  hint: put the whole field in quotes and double the quotes inside\n"
        "m.csv:3:5: error: there is text behind the closing quote\n"
        "  3 | p\"q,\"c\"d,reduce,2,1,8,1,,x\n"
        "    |     ^^^^\n"
        "  hint: put the whole field in quotes and double the quotes inside\n"
        "3 errors\n");
}

TEST_CASE("unknown, doubled and missing columns are reported before any row is read") {
  CHECK(test::read_rows("series,cluster,op,op,gpu,nodes,bytes,time_us,settings\nnot,looked,at\n").errors ==
        "m.csv:1:1: error: the column \"gpus\" is missing\n"
        "  1 | series,cluster,op,op,gpu,nodes,bytes,time_us,settings\n"
        "    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "m.csv:1:1: error: the column \"source\" is missing\n"
        "  1 | series,cluster,op,op,gpu,nodes,bytes,time_us,settings\n"
        "    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "m.csv:1:19: error: the column \"op\" is there twice\n"
        "  1 | series,cluster,op,op,gpu,nodes,bytes,time_us,settings\n"
        "    |                   ^^\n"
        "m.csv:1:22: error: unknown column \"gpu\"\n"
        "  1 | series,cluster,op,op,gpu,nodes,bytes,time_us,settings\n"
        "    |                      ^^^\n"
        "  hint: did you mean \"gpus\" or \"op\"?\n"
        "4 errors\n");
}

TEST_CASE("a header of neither kind names both") {
  CHECK(test::read_rows("a,b\n1,2\n").errors ==
        "m.csv:1:1: error: the header names no kind of measurement\n"
        "  1 | a,b\n"
        "    | ^^^\n"
        "  hint: a file of training runs has "
        "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source, "
        "one of collectives series,cluster,op,gpus,nodes,bytes,time_us,settings,source, "
        "one of kernels op,shape,precision,gpu,time_us,kernel,source, "
        "one of large models source,model,params,layers,hidden,heads,kv_heads,ffn,vocab,seq_len,micro_batch,"
        "global_batch,tp,pp,vpp,cp,ep,dp,zero_stage_or_fsdp,recompute,precision,gpu,nodes,gpus,framework,"
        "step_time_s,tokens_per_s_per_gpu,tflops_per_gpu,mfu,memory_gb,notes\n");
}

TEST_CASE("a file without a header, a binary file and a too large one are refused as a whole") {
  CHECK_THAT(test::read_rows("# only a comment\n").errors,
             ContainsSubstring("m.csv: error: has no header line\n"));
  CHECK(test::read_rows(std::string("series\0", 7)).errors == "m.csv: error: is not a text file\n");
  CHECK(test::read_rows(std::string(kLargestMeasurements + 1, '#')).errors ==
        "m.csv: error: is larger than 16777216 bytes\n");
}

TEST_CASE("at most 50 mistakes are reported") {
  std::string text = kCollective;
  for (int i = 0; i < 1000; ++i) text += "p,c,reduce,2,1,8,zero,,x\n";
  CHECK_THAT(test::read_rows(text).errors, Catch::Matchers::EndsWith("50 errors\n"));
}

TEST_CASE("the measured files of others read without a mistake") {
  CHECK(rows_of("scaling.csv") == 2624);
  CHECK(rows_of("csc_puhti.csv") == 66);
  CHECK(rows_of("nccl.csv") == 1712);
  CHECK(rows_of("nccl_2.csv") == 1088);
}

TEST_CASE("a measured value that nothing has is refused with its limits") {
  const std::string row =
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\na,"
      "resnet50,puhti,ddp,fp32,32,1,1,"
      "samples_per_s,";
  for (const char* value : {"1e-300", "1e300"})
    CHECK_THAT(test::read_rows(row + value + ",,x\n").errors,
               ContainsSubstring("error: value must be a number from 1e-09 to 1e+15\n"));
  CHECK(test::read_rows(row + "1e-9,,x\n").errors.empty());
  const std::string collective =
      "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\na,puhti,all_reduce,4,1,8,";
  for (const char* value : {"1e-7", "1e13"})
    CHECK_THAT(test::read_rows(collective + value + ",,x\n").errors,
               ContainsSubstring("error: time_us must be a number from 1e-06 to 1e+12\n"));
  CHECK(test::read_rows(collective + "1e12,,x\n").errors.empty());
}

}  // namespace measurements_test

// Tests of measurement files: all kinds, quotes, columns by name, and every wrong field under its caret.
#include "sim/scenario/csv/measurements.hpp"

#include "sim/scenario/csv/csv_line.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured.hpp"

namespace measurements_test {

using namespace foretrain;

namespace {

const std::string kScaling =
    "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n";
const std::string kCollective = "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\n";

struct ReadFile {
  MeasurementFile file;
  std::string errors;
};

ReadFile read(const std::string& text) {
  const SourceText source{"m.csv", text};
  Diagnostics diagnostics(source);
  MeasurementFile file = read_measurements(source, diagnostics);
  return {file, format(diagnostics.found())};
}

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
  const auto [file, errors] = read(
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
  const auto [file, errors] = read(kCollective + "p,polaris,all_gather,512,128,8192,4051.7,,x\n");
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
  const auto [file, errors] =
      read("time_us,bytes,nodes,gpus,op,cluster,series,source,settings\n5.5,64,1,2,reduce,c,s,src,a=b\n");
  REQUIRE(errors.empty());
  REQUIRE(file.collective.size() == 1);
  CHECK(file.collective[0].time_us == 5.5);
  CHECK(file.collective[0].series == "s");
  CHECK(file.collective[0].settings == Settings{{"a", "b"}});
}

TEST_CASE("comments, empty lines, CRLF and a byte order mark are passed over, and lines still count") {
  const auto [file, errors] =
      read("\xEF\xBB\xBF# a title\r\n\r\n" + kCollective.substr(0, kCollective.size() - 1) +
           "\r\n# more\r\np,c,reduce,2,1,8,1,,x\r\n");
  REQUIRE(errors.empty());
  REQUIRE(file.collective.size() == 1);
  CHECK(file.collective[0].source == "x");
  CHECK(file.collective[0].line == 5);
}

TEST_CASE("a field in quotes may hold commas and doubled quotes") {
  const auto [file, errors] = read(kCollective + "\"a, b\",c,reduce,2,1,8,1,,\"the \"\"best\"\", he said\"");
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
  CHECK(read(kScaling + "a,,puhti,ddp,fp32,0,8.5,2,samples_per_sec,-1,no,\n").errors ==
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
  CHECK(read(kCollective + "p,c,allreduce,2,1,8,1,,x\n").errors ==
        "m.csv:2:5: error: unknown op \"allreduce\"\n"
        "  2 | p,c,allreduce,2,1,8,1,,x\n"
        "    |     ^^^^^^^^^\n"
        "  hint: did you mean \"all_reduce\" or \"reduce\"?\n");
}

TEST_CASE("more nodes than GPUs cannot be") {
  CHECK(read(kCollective + "p,c,reduce,2,3,8,1,,x\n").errors ==
        "m.csv:2:14: error: 3 nodes for 2 GPUs\n"
        "  2 | p,c,reduce,2,3,8,1,,x\n"
        "    |              ^\n"
        "  hint: every node in use has at least one GPU of the job\n");
}

TEST_CASE("numbers that are no numbers are wrong") {
  for (const std::string number : {"nan", "inf", "0", "1e999", "1,5", "", "5 us", "0x10"}) {
    CHECK_FALSE(read(kCollective + "p,c,reduce,2,1,8," + number + ",,x\n").errors.empty());
  }
  for (const std::string number : {"-1", "9223372036854775808", "1e3", " 8", "8.0"}) {
    CHECK_FALSE(read(kCollective + "p,c,reduce,2,1," + number + ",1,,x\n").errors.empty());
  }
}

TEST_CASE("a row with a field too many points at it, one with too few at its last") {
  CHECK(read(kCollective + "p,c,reduce,2,1,8,1,,x,y\np,c,reduce\n").errors ==
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
  CHECK(read(kCollective + "\"p,c,reduce\np\"q,\"c\"d,reduce,2,1,8,1,,x\n").errors ==
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
  CHECK(read("series,cluster,op,op,gpu,nodes,bytes,time_us,settings\nnot,looked,at\n").errors ==
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
  CHECK(read("a,b\n1,2\n").errors ==
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
  CHECK_THAT(read("# only a comment\n").errors, ContainsSubstring("m.csv: error: has no header line\n"));
  CHECK(read(std::string("series\0", 7)).errors == "m.csv: error: is not a text file\n");
  CHECK(read(std::string(kLargestMeasurements + 1, '#')).errors ==
        "m.csv: error: is larger than 16777216 bytes\n");
}

TEST_CASE("at most 50 mistakes are reported") {
  std::string text = kCollective;
  for (int i = 0; i < 1000; ++i) text += "p,c,reduce,2,1,8,zero,,x\n";
  CHECK_THAT(read(text).errors, Catch::Matchers::EndsWith("50 errors\n"));
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
    CHECK_THAT(read(row + value + ",,x\n").errors,
               ContainsSubstring("error: value must be a number from 1e-09 to 1e+15\n"));
  CHECK(read(row + "1e-9,,x\n").errors.empty());
  const std::string collective =
      "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\na,puhti,all_reduce,4,1,8,";
  for (const char* value : {"1e-7", "1e13"})
    CHECK_THAT(read(collective + value + ",,x\n").errors,
               ContainsSubstring("error: time_us must be a number from 1e-06 to 1e+12\n"));
  CHECK(read(collective + "1e12,,x\n").errors.empty());
}

namespace {

const std::string kKernels = "op,shape,precision,gpu,time_us,kernel,source\n";

}  // namespace

TEST_CASE("a row of a kernel gives its operator, its GPU and every number of its shape") {
  const auto [file, errors] = read(kKernels +
                                   "bmm,B12xM64xN128xK256,fp32,t4,45.2,sgemm,a.csv\n"
                                   "conv,B=8 Input_Channel=3 Output_Channel=64 Kernel_Szie=7 Input_Size=224 "
                                   "Stride=2 Padding=3,fp32,t4,9,,\n"
                                   "softmax,B4096xH1000,fp16,t4,80,,\n");
  REQUIRE(errors.empty());
  REQUIRE(file.kind == MeasurementFile::Kind::kernels);
  REQUIRE(file.kernels.size() == 3);
  const KernelMeasurement &product = file.kernels[0], &convolution = file.kernels[1], &rows = file.kernels[2];
  CHECK(product.op->cls == KernelClass::product);
  CHECK(product.gpu == "t4");
  CHECK(product.time_us == 45.2);
  CHECK(product.kernel == "sgemm");
  CHECK(product.source == "a.csv");
  CHECK(product.line == 2);
  CHECK(product.shape.batch == 12);
  CHECK(product.shape.rows == 64);
  CHECK(product.shape.depth == 128);
  CHECK(product.shape.columns == 256);
  CHECK(convolution.shape.channels == 3);
  CHECK(convolution.shape.columns == 64);
  CHECK(convolution.shape.result_side() == 112);  // (224 + 6 - 7) / 2 + 1
  CHECK(rows.precision == "fp16");
  CHECK(rows.shape.rows == 4096);
  CHECK(rows.shape.columns == 1000);
}

TEST_CASE("kernels of large models: products of M x K by K x N, and attention with fewer keys than queries") {
  const auto [file, errors] = read(kKernels +
                                   "gemm,M48xN768xK2048,fp8,h100-sxm5-80gb,12.5,,a/gemm\n"
                                   "attention_fwd_causal,B8xS3072xHq24xHkv8xD128,bf16,b200,3553,,\n");
  REQUIRE(errors.empty());
  REQUIRE(file.kernels.size() == 2);
  const KernelMeasurement &product = file.kernels[0], &attention = file.kernels[1];
  CHECK(product.op->cls == KernelClass::tensor_product);
  CHECK(product.precision == "fp8");
  CHECK(product.shape.rows == 48);
  CHECK(product.shape.columns == 768);
  CHECK(product.shape.depth == 2048);
  CHECK(attention.op->cls == KernelClass::attention);
  CHECK(attention.gpu == "b200-sxm-180gb");  // the only one that begins so
  CHECK(attention.shape.batch == 8);
  CHECK(attention.shape.rows == 3072);
  CHECK(attention.shape.heads == 24);
  CHECK(attention.shape.kv_heads == 8);
  CHECK(attention.shape.columns == 128);
}

TEST_CASE("the start of several GPUs' names is none, nor is a precision that a kernel does not have") {
  CHECK(read(kKernels + "gemm,M1xN2xK3,bf16,h100,9,,\n").errors.find("unknown gpu \"h100\"") !=
        std::string::npos);
  CHECK(read(kKernels + "gemm,M1xN2xK3,fp32,b200,9,,\n").errors.find("m.csv:2:15: error: gemm is measured") ==
        0);
  CHECK(read(kKernels + "add,B1xH8,fp8,b200,9,,\n").errors.find("m.csv:2:11: error: no kernel of add") == 0);
}

TEST_CASE("kernels need no names of kernels and sources") {
  const auto [file, errors] = read("gpu,op,time_us,precision,shape\nt4,add,30,fp32,B1xH8\n");
  REQUIRE(errors.empty());
  REQUIRE(file.kernels.size() == 1);
  CHECK(file.kernels[0].kernel.empty());
  CHECK(file.kernels[0].op->tensors == 3);
}

TEST_CASE("every mistake of a kernel's row is reported with the caret under it") {
  CHECK(read(kKernels + "bnm,B1xH8,fp31,t5,0,,\n").errors ==
        "m.csv:2:1: error: unknown op \"bnm\"\n"
        "  2 | bnm,B1xH8,fp31,t5,0,,\n"
        "    | ^^^\n"
        "  hint: did you mean \"bmm\" or \"ln\"?\n"
        "m.csv:2:11: error: unknown precision \"fp31\"\n"
        "  2 | bnm,B1xH8,fp31,t5,0,,\n"
        "    |           ^^^^\n"
        "  hint: did you mean \"fp32\", \"fp16\" or \"fp8\"?\n"
        "m.csv:2:16: error: unknown gpu \"t5\"\n"
        "  2 | bnm,B1xH8,fp31,t5,0,,\n"
        "    |                ^^\n"
        "  hint: did you mean \"t4\", \"l4\" or \"p4\"?\n"
        "m.csv:2:19: error: time_us must be a number more than zero\n"
        "  2 | bnm,B1xH8,fp31,t5,0,,\n"
        "    |                   ^\n"
        "4 errors\n");
}

TEST_CASE("shapes that are none are reported where they stand") {
  const std::string conv = "conv,B=1 Input_Channel=1 Output_Channel=1 ";
  for (const std::string& row :
       {std::string("bmm,B1xM2xN3"), std::string("bmm,B1xM2xN3xK4x5"), std::string("bmm,B1xM2xN3xK-4"),
        std::string("bmm,B1xM2xN0xK4"), std::string("bmm,B1xM2xN3xK99999999999"), std::string("bmm,"),
        std::string("add,B1"), std::string("add,H1xB1"), std::string("ln,B=1xH=2"),
        std::string("attention_fwd_causal,B1xS2xHq3xHkv2xD64"),  // three heads do not share two
        std::string("attention_fwd_causal,B1xS0xHq4xHkv2xD64"),
        std::string("attention_fwd_causal,B1xS2xHq4xD64"),
        std::string("attention_fwd_causal,B99999xS99999xHq99999xHkv1xD99999"),
        std::string("add,B2147483648xH2147483648"),  // more numbers than any tensor has
        conv + "Kernel_Szie=9 Input_Size=4 Stride=1 Padding=1",
        conv + "Kernel_Szie=3 Input_Size=4 Stride=0 Padding=1",
        conv + "Kernel_Szie=3 Input_Size=4 Stride=1 Padding=7",
        conv + "Kernel_Szie=3 Input_Size=4 Stride=1 Padding=-1"}) {
    const std::string precision = row.starts_with("attention") ? "fp16" : "fp32";
    const std::string errors = read(kKernels + row + "," + precision + ",t4,10,,\n").errors;
    INFO(row << "\n" << errors);
    CHECK(errors.find("m.csv:2:" + std::to_string(row.find(',') + 2) + ": error") == 0);
  }
}

TEST_CASE("the open kernels are read without a mistake") {
  const SourceText source = read_text_file((test::kMeasured / "kernels.csv").string(), kLargestMeasurements);
  Diagnostics diagnostics(source);
  CHECK(read_measurements(source, diagnostics).kernels.size() == 3038);
  CHECK(diagnostics.empty());
  const SourceText large =
      read_text_file((test::kMeasured / "kernels_llm.csv").string(), kLargestMeasurements);
  Diagnostics of_large(large);
  CHECK(read_measurements(large, of_large).kernels.size() == 800);
  CHECK(of_large.empty());
}

}  // namespace measurements_test

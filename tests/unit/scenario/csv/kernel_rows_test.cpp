// Tests of measured kernels: operators, GPUs by the start of their names, shapes, and every wrong field under
// its caret.
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured.hpp"
#include "tests/unit/scenario/read_rows.hpp"

namespace kernel_rows_test {

using namespace foretrain;

namespace {

const std::string kKernels = "op,shape,precision,gpu,time_us,kernel,source\n";

}  // namespace

TEST_CASE("a row of a kernel gives its operator, its GPU and every number of its shape") {
  const auto [file, errors] =
      test::read_rows(kKernels +
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
  const auto [file, errors] =
      test::read_rows(kKernels +
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
  CHECK(test::read_rows(kKernels + "gemm,M1xN2xK3,bf16,h100,9,,\n").errors.find("unknown gpu \"h100\"") !=
        std::string::npos);
  CHECK(test::read_rows(kKernels + "gemm,M1xN2xK3,fp32,b200,9,,\n")
            .errors.find("m.csv:2:15: error: gemm is measured") == 0);
  CHECK(test::read_rows(kKernels + "add,B1xH8,fp8,b200,9,,\n")
            .errors.find("m.csv:2:11: error: no kernel of add") == 0);
}

TEST_CASE("kernels need no names of kernels and sources") {
  const auto [file, errors] = test::read_rows("gpu,op,time_us,precision,shape\nt4,add,30,fp32,B1xH8\n");
  REQUIRE(errors.empty());
  REQUIRE(file.kernels.size() == 1);
  CHECK(file.kernels[0].kernel.empty());
  CHECK(file.kernels[0].op->tensors == 3);
}

TEST_CASE("every mistake of a kernel's row is reported with the caret under it") {
  CHECK(test::read_rows(kKernels + "bnm,B1xH8,fp31,t5,0,,\n").errors ==
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
        "  hint: did you mean \"t4\", \"a2\" or \"l4\"?\n"
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
    const std::string errors = test::read_rows(kKernels + row + "," + precision + ",t4,10,,\n").errors;
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

}  // namespace kernel_rows_test

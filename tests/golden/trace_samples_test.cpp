// Real traces of ../shared/samples/kineto: steps, buckets, and the prediction of the recorded training.
#include <algorithm>
#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/run_program.hpp"

namespace trace_samples_test {

namespace {

const std::string kKineto = FORETRAIN_SOURCE_DIR "/../shared/samples/kineto/";
const std::string kExecutions = FORETRAIN_SOURCE_DIR "/../shared/samples/pytorch_et/";

std::string output_of(const std::string& line) {
  const auto run = foretrain::test::run_program("export FORETRAIN_PATH='" FORETRAIN_SOURCE_DIR "'\n" + line,
                                                FORETRAIN_SOURCE_DIR, FORETRAIN_BINARY);
  CHECK(run.exit_code == 0);
  return run.output;
}

double number_behind(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find(mark);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + mark.size()));
}

}  // namespace

TEST_CASE("two A100 with DDP: buckets and step of the trace are found") {
  if (!std::filesystem::exists(kKineto)) FORETRAIN_SKIP("needs ../shared/samples/kineto");
  const std::string shown = output_of("foretrain trace show " + kKineto + "hta_nccl_data.json.gz");
  // ProfilerStep#4 to #6 last 222.503, 219.786 and 224.936 ms.
  CHECK_THAT(shown, ContainsSubstring("A step takes 222.5 ms"));
  CHECK_THAT(shown,
             ContainsSubstring("buckets of gradients, in their order: 7.82 30.04 25.04 25.32 9.27 MiB"));
}

TEST_CASE("two A100 with DDP: the step predicted from the trace's one-GPU content is within 7 percent") {
  if (!std::filesystem::exists(kKineto)) FORETRAIN_SKIP("needs ../shared/samples/kineto");
  const std::string diff = output_of("foretrain trace diff " + kKineto +
                                     "hta_nccl_data.json.gz --cluster mahti --batch 32 --format json");
  CHECK(std::abs(number_behind(diff, "\"error\": ")) < 0.07);
  CHECK_THAT(
      output_of("foretrain trace diff " + kKineto + "hta_nccl_data.json.gz --cluster mahti --batch 32"),
      ContainsSubstring("The buckets are the same: 7.82 30.04 25.04 25.32 9.27 MiB"));
}

TEST_CASE("one RTX 2080 Ti: 29 steps between optimizers, with a data loader that it waits for") {
  if (!std::filesystem::exists(kKineto)) FORETRAIN_SKIP("needs ../shared/samples/kineto");
  const std::string shown = output_of("foretrain trace show " + kKineto + "param_resnet_kineto.json.gz");
  CHECK_THAT(shown, ContainsSubstring("29 steps found by Optimizer.step#"));
  CHECK_THAT(shown, ContainsSubstring("the GPU waits for the data loader"));
}

TEST_CASE("a trace without training is shown, and refused as a network") {
  if (!std::filesystem::exists(kKineto)) FORETRAIN_SKIP("needs ../shared/samples/kineto");
  CHECK_THAT(output_of("foretrain trace show " + kKineto + "hta_alexnet_trace.json.gz"),
             ContainsSubstring("found by kernels that repeat"));
  const auto run =
      foretrain::test::run_program("foretrain model import " + kKineto + "hta_alexnet_trace.json.gz",
                                   FORETRAIN_SOURCE_DIR, FORETRAIN_BINARY);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring("has no backward pass in its steps"));
}

TEST_CASE("execution traces of ResNet-50 have its parameters") {
  if (!std::filesystem::exists(kExecutions)) FORETRAIN_SKIP("needs ../shared/samples/pytorch_et");
  for (const char* file :
       {"param_resnet_2gpu_pytorch_et_v1.1.0-chakra.0.0.4.json.gz", "param_resnet_pytorch_et.json.gz"}) {
    const std::string name = (std::filesystem::temp_directory_path() / "foretrain-et.toml").string();
    const std::string shown = output_of("foretrain model import " + kExecutions + file + " -o " + name +
                                        "\nforetrain model show " + name + " --layers none");
    CHECK_THAT(shown, ContainsSubstring("25,557,032 in 161 tensors"));
    std::filesystem::remove(name);
  }
}

}  // namespace trace_samples_test

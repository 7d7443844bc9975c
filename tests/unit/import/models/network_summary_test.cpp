// Printed summaries: what their parameters and sizes give away, and what is said of the rest.
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/model_file.hpp"
#include "tests/unit/import/models/imported.hpp"

namespace network_summary_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

std::string summary(const std::string& name) {
  return read_text_file(FORETRAIN_SOURCE_DIR "/tests/fuzz/corpus/fuzz_network_summary/" + name).text;
}

}  // namespace

TEST_CASE("a summary of ResNet-18 by torchsummary has its parameters and products") {
  const ImportedModel made = imported(summary("torchsummary.txt"));
  const ExpandedModel model = expanded_text(made), catalog = model_file("resnet18");
  CHECK(model.parameter_elements() == catalog.parameter_elements());
  CHECK(model.forward_gemm_flops().per_sample == catalog.forward_gemm_flops().per_sample);
  CHECK(model.forward_flops().per_sample == Approx(catalog.forward_flops().per_sample).epsilon(0.001));
  CHECK(remarks(made, "best effort"));
}

TEST_CASE("a summary of Keras gives windows without padding, and an input as large as is asked for") {
  const ExpandedModel model = network_of(summary("keras.txt"));
  CHECK(model.parameter_elements() == 34'826);
  CHECK(model.input_elements == 28 * 28);
}

TEST_CASE("a summary of Keras that says what layers take is joined by its names") {
  const ImportedModel made = imported(summary("functional.txt"));
  // 448 + 32 (of 64, half are statistics) + 2320 + 170.
  CHECK(expanded_text(made).parameter_elements() == 448 + 32 + 2320 + 170);
  CHECK_THAT(made.text, ContainsSubstring("type = \"add\""));
  CHECK(remarks(made, "an activation whose function the summary does not tell"));
}

TEST_CASE("what a summary leaves open is named and counts by its parameters") {
  const ImportedModel made = imported(summary("torchinfo.txt"));
  CHECK(expanded_text(made).parameter_elements() == 30'618);
  CHECK(remarks(made, "could not be worked out and count by their parameters and bytes: MultiheadAttention"));
}

TEST_CASE("a summary without layers is refused") {
  CHECK_THAT(mistakes_of("Layer (type)  Output Shape  Param #\n====\n"),
             ContainsSubstring("no layer with a shape"));
  CHECK_THAT(mistakes_of(summary("odd.txt")), ContainsSubstring("no layer with a shape"));
}

}  // namespace network_summary_test

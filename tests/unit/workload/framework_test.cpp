// Frameworks: versions compare number by number, and each offers its own ways of running.
#include "sim/workload/framework.hpp"

#include "tests/support/catch.hpp"

namespace framework_test {

using namespace foretrain;

TEST_CASE("a framework's version is compared number by number, not as text") {
  CHECK(*parse_framework_version("1.13") > *parse_framework_version("1.9"));
  CHECK(*parse_framework_version("2.0") > *parse_framework_version("1.13"));
  CHECK(*parse_framework_version("2.10") == FrameworkVersion{2, 10});
}

TEST_CASE("what follows the second number of a framework's version does not matter") {
  CHECK(*parse_framework_version("2.3.1") == FrameworkVersion{2, 3});
  CHECK(*parse_framework_version("1.13.0a0+git") == FrameworkVersion{1, 13});
  CHECK(to_text({1, 7}) == "1.7");
}

TEST_CASE("texts without two numbers are no version of a framework") {
  for (const char* text : {"", "2", "2.", ".3", "two.three", "2.x", "-1.3", "2.3 ", "12345.1", "1.99999"}) {
    INFO(text);
    CHECK_FALSE(parse_framework_version(text).has_value());
  }
}

TEST_CASE("PyTorch runs eager by default and has no graph executor, TensorFlow the other way round") {
  CHECK(usual_framework(FrameworkKind::pytorch).execution == Execution::eager);
  CHECK(usual_framework(FrameworkKind::tensorflow).execution == Execution::graph);
  CHECK(executions_of(FrameworkKind::pytorch) ==
        std::vector{Execution::eager, Execution::compiled, Execution::cuda_graphs});
  CHECK(executions_of(FrameworkKind::tensorflow) ==
        std::vector{Execution::graph, Execution::eager, Execution::compiled});
  CHECK(title_of(usual_framework(FrameworkKind::tensorflow)) == "TensorFlow 2.15");
}

TEST_CASE("PyTorch 1.7 to 1.11 and TensorFlow since 2.4 multiply matrices in TF32 by default") {
  const auto defaults = [](FrameworkVersion version) {
    Framework framework;
    framework.version = version;
    return products_default_to_tf32(framework);
  };
  CHECK_FALSE(defaults({1, 6}));
  CHECK(defaults({1, 7}));
  CHECK(defaults({1, 11}));
  CHECK_FALSE(defaults({1, 12}));
  Framework tensorflow = usual_framework(FrameworkKind::tensorflow);
  CHECK(products_default_to_tf32(tensorflow));
  tensorflow.version = {2, 3};
  CHECK_FALSE(products_default_to_tf32(tensorflow));
}

}  // namespace framework_test

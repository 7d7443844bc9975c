// strategy.param_dtype of FSDP: what it says of the workload, and what contradicts it.
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"

namespace param_type_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;

namespace {

Scenario read(const std::string& model, const std::string& strategy) {
  return read_scenario({"mine.toml", "[model]\nname = \"gpt2\"\n" + model +
                                         "[cluster]\nname = \"mahti\"\n[strategy]\n" + strategy},
                       {});
}

std::string mistake(const std::string& model, const std::string& strategy) {
  try {
    read(model, strategy);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("parameters of 16 bits are computed with in their type, beside shards of fp32") {
  for (const std::string name : {"fsdp", "fsdp2"}) {
    const Workload work = read("", "name = \"" + name + "\"\nparam_dtype = \"bf16\"\n").workload;
    CHECK(work.precision == Precision::bf16);
    CHECK(work.half_weights);
    const Workload fp16 = read("", "name = \"" + name + "\"\nparam_dtype = \"fp16\"\n").workload;
    CHECK(fp16.precision == Precision::amp_fp16);
  }
}

TEST_CASE("parameters gathered in fp32 leave autocast to the products") {
  const Workload work =
      read("precision = \"bf16\"\nhalf_weights = true\n", "name = \"fsdp2\"\nparam_dtype = \"fp32\"\n")
          .workload;
  CHECK(work.precision == Precision::bf16);
  CHECK_FALSE(work.half_weights);
}

TEST_CASE("types that contradict each other are mistakes with their place") {
  CHECK_THAT(mistake("precision = \"bf16\"\n", "name = \"fsdp\"\nparam_dtype = \"fp16\"\n"),
             ContainsSubstring("mine.toml:8") && ContainsSubstring("model.precision bf16"));
  CHECK_THAT(mistake("weights = \"bf16\"\n", "name = \"fsdp\"\nparam_dtype = \"fp32\"\n"),
             ContainsSubstring("the weights have 16 bits"));
  CHECK_THAT(mistake("", "name = \"fsdp\"\nreduce_dtype = \"int8\"\n"), ContainsSubstring("reduce_dtype"));
  CHECK_THAT(mistake("", "name = \"ddp\"\nparam_dtype = \"bf16\"\n"),
             ContainsSubstring("strategy.param_dtype is an option of fsdp, fsdp2"));
}

}  // namespace param_type_test

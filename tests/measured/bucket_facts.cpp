// DDP's buckets to the byte: sizes derived from PyTorch's own algorithm and parameter lists
// (../shared/facts/measured/derived_buckets.json).
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "sim/strategy/ddp_buckets.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

using namespace foretrain;

namespace {

const std::filesystem::path kFacts = FORETRAIN_SOURCE_DIR "/../shared/facts/measured/derived_buckets.json";

std::vector<std::int64_t> our_buckets(const Model& model, bool find_unused) {
  StrategyKnobs knobs;
  knobs.find_unused_parameters = find_unused;
  std::vector<std::int64_t> sizes;
  for (const Bucket& bucket : form_buckets(expand(model).model, knobs)) sizes.push_back(bucket.size.count);
  return sizes;
}

}  // namespace

TEST_CASE("the buckets of four networks are PyTorch's to the byte") {
  if (!std::filesystem::exists(kFacts)) FORETRAIN_SKIP("no ../shared/facts");
  const nlohmann::json facts = nlohmann::json::parse(std::ifstream(kFacts));
  for (const Model& model : {test::mnist_net(), test::resnet18(), test::resnet50(), test::vgg16()}) {
    INFO(model.name);
    CHECK(our_buckets(model, false) == facts.at(model.name).at("ddp_default").get<std::vector<std::int64_t>>());
    CHECK(our_buckets(model, true) == facts.at(model.name).at("ddp_find_unused").get<std::vector<std::int64_t>>());
  }
}

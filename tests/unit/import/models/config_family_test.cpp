// Configs whose network is a family of the catalog: numbers by path, defaults, options, and what is missing.
#include <cstdlib>

#include "tests/unit/import/models/imported.hpp"

namespace config_family_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

std::int64_t all_parameters(const std::string& config, const ModelImportOptions& options = {}) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const ExpandedModel model = network_of(config, options);
  return model.parameter_elements() + model.frozen_elements();
}

}  // namespace

TEST_CASE("a config of a family of the catalog is the network of that size") {
  CHECK(all_parameters(R"({"model_type": "modernbert", "hidden_size": 768, "intermediate_size": 1152,
                           "num_hidden_layers": 22})") == 149'655'232);
  CHECK(all_parameters(R"({"model_type": "dinov2", "hidden_size": 1536, "num_hidden_layers": 40,
                           "use_swiglu_ffn": true})") == 1'136'480'768);
  CHECK(all_parameters(
            R"({"model_type": "segformer", "hidden_sizes": [32, 64, 160, 256], "depths": [2, 2, 2, 2],
                           "num_attention_heads": [1, 2, 5, 8], "decoder_hidden_size": 256})") == 3'752'694);
  CHECK(all_parameters(R"({"model_type": "clip", "projection_dim": 768, "text_config": {"hidden_size": 768},
                           "vision_config": {"hidden_size": 1024, "num_hidden_layers": 24, "patch_size": 14}})") ==
        427'616'513);
  CHECK(all_parameters(R"({"model_type": "qwen2_vl", "hidden_size": 1536, "intermediate_size": 8960,
                           "num_attention_heads": 12, "num_key_value_heads": 2, "vocab_size": 151936,
                           "tie_word_embeddings": true})") == 2'208'985'600);
}

TEST_CASE("an image of another size changes positions where the family has a side") {
  const std::string clip = R"({"model_type": "clip", "projection_dim": 512})";
  CHECK(all_parameters(clip) == 151'277'313);
  ModelImportOptions larger;
  larger.image = 256;
  CHECK(all_parameters(clip, larger) == 151'277'313 + (64 - 49) * 768);
}

TEST_CASE("a config without what its family needs is refused with all keys") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  CHECK_THAT(mistakes_of(R"({"model_type": "modernbert", "hidden_size": 768})"),
             ContainsSubstring("a config of modernbert needs intermediate_size, num_hidden_layers"));
  CHECK_THAT(mistakes_of(R"({"model_type": "dinov2", "hidden_size": "768", "num_hidden_layers": 12})"),
             ContainsSubstring("hidden_size must be a whole number from 0 to 1000000000"));
  CHECK_THAT(mistakes_of(R"({"model_type": "nothing", "hidden_size": 768})"), ContainsSubstring("siglip"));
}

}  // namespace config_family_test

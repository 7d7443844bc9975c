// Networks of the catalog seen as stacks of transformer layers, and networks that are none.
#include <string>
#include <vector>

#include "sim/workload/transformer/shape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"
#include "tests/support/model_file.hpp"
#include "tests/support/test_models.hpp"

namespace transformer_recognize_test {

using namespace foretrain;

namespace {

Model model_text(const std::string& name) {
  const SourceText source = read_text_file(fmt::format("{}/models/{}.toml", FORETRAIN_SOURCE_DIR, name));
  Diagnostics diagnostics(source);
  Model model = read_model(source, diagnostics);
  diagnostics.throw_if_any();
  return model;
}

TransformerShape shape_of(const std::string& name) {
  const RecognizedTransformer seen = recognize_transformer(model_text(name));
  INFO(name << ": " << seen.why_not);
  REQUIRE(seen.shape);
  return *seen.shape;
}

}  // namespace

TEST_CASE("sizes of Llamas of the catalog are those of their configurations") {
  TransformerShape llama = test::llama3_8b_shape();
  llama.sequence = 8192;
  CHECK(shape_of("llama3_8b") == llama);
  CHECK(shape_of("nanotron_1b") == test::bench_1b_shape());
  CHECK(shape_of("nanotron_8b") == test::bench_8b_shape());
  CHECK(shape_of("nanotron_80b") == test::bench_80b_shape());
}

TEST_CASE("a GPT has bias, learned positions and a tied head, and no gate") {
  CHECK(shape_of("gpt3_175b") == test::gpt_shape(96, 12288, 96, 50257, 2048));
}

TEST_CASE("BERT sees all of a sentence, and what is behind its stack is no part of a layer") {
  const TransformerShape shape = shape_of("bert_large_s512");
  CHECK(shape.layers == 24);
  CHECK(shape.hidden == 1024);
  CHECK(shape.heads == 16);
  CHECK(shape.inner == 4096);
  CHECK(shape.vocabulary == 30522);
  CHECK_FALSE(shape.causal);
  CHECK_FALSE(shape.gated);
}

TEST_CASE("Falcon's attention and feed-forward part beside each other are a layer as well") {
  const TransformerShape shape = shape_of("falcon_40b");
  CHECK(shape.layers == 60);
  CHECK(shape.heads == 128);
  CHECK(shape.kv_heads == 8);
  CHECK(shape.head_dim == 64);
  CHECK(shape.inner == 4 * 8192);
  CHECK_FALSE(shape.gated);
  CHECK(shape.tied);
}

TEST_CASE("mixtures of experts are seen with their dense layers, shared experts and turns") {
  const TransformerShape mixtral = shape_of("mixtral_8x7b");
  REQUIRE(mixtral.experts);
  CHECK(*mixtral.experts == ExpertLayers{.experts = 8, .top_k = 2, .width = 14336});
  const TransformerShape deepseek = shape_of("deepseek_v3");
  CHECK(deepseek.experts == test::deepseek_v3_shape().experts);
  CHECK(deepseek.latent == LatentAttention{});
  CHECK(deepseek.inner == 18432);
  const TransformerShape maverick = shape_of("llama4_maverick");
  REQUIRE(maverick.experts);
  // Layers 1, 3, … 47.
  CHECK(*maverick.experts ==
        ExpertLayers{.experts = 128, .top_k = 1, .shared = 1, .width = 8192, .dense_layers = 0, .every = 2});
}

// What a shape leaves out: norms of queries and keys, BERT's pooler and second head, bias here and there.
TEST_CASE("parameters of a shape are within 1 % of those of the network") {
  for (const char* name :
       {"llama3_8b",        "llama3_2_1b", "gpt3_175b",       "gpt2",         "mixtral_8x7b",
        "deepseek_v2_lite", "deepseek_v3", "bert_large_s512", "llama4_scout", "llama4_maverick",
        "falcon_7b",        "falcon_40b",  "qwen3_30b_a3b",   "gemma2_9b",    "mpt_7b",
        "bloom_7b1",        "olmo2_7b",    "nemotron4_15b",   "grok1",        "nanotron_3b"}) {
    INFO(name);
    const auto expanded = static_cast<double>(test::model_file(name).parameter_elements());
    CHECK(static_cast<double>(parameters_of(shape_of(name)).total) == Approx(expanded).epsilon(0.01));
  }
}

TEST_CASE("a network that is no stack of attention layers is refused with a reason") {
  CHECK(recognize_transformer(model_text("resnet50")).why_not == "it begins with no embedding");
  CHECK_FALSE(recognize_transformer(model_text("resnet50")).shape);
  for (const char* name : {"dlrm", "gnmt", "mnist_net", "inception_v4"}) {
    INFO(name);
    const RecognizedTransformer seen = recognize_transformer(model_text(name));
    CHECK_FALSE(seen.shape);
    CHECK_FALSE(seen.why_not.empty());
  }
  Model recorded = test::encoder(2, 16, 32, 4, 100);
  recorded.is_recorded = true;
  CHECK(recognize_transformer(recorded).why_not == "a recording has operators and no layers");
}

TEST_CASE("what makes a stack another network is said") {
  const Model right = test::encoder(3, 16, 32, 4, 100);
  REQUIRE(recognize_transformer(right).shape);
  CHECK(recognize_transformer(test::encoder(1, 16, 32, 4, 100)).why_not ==
        "it is no stack of attention layers");
  Model headless = right;
  headless.layers.pop_back(), headless.layers.pop_back();
  CHECK(recognize_transformer(headless).why_not ==
        "no linear layer behind the stack gives a value for each word");
  Model unlike = test::encoder(2, 16, 32, 4, 100);
  unlike.layers.insert(unlike.layers.begin() + 1, test::add({test::attention(8)}, {}));
  CHECK(recognize_transformer(unlike).why_not == "its attention layers are not alike");
  Model narrow = right;
  // The first block's perceptron (behind embedding, attention and norm) ends in another width.
  narrow.layers[3] = test::add({test::linear(128), test::linear(64), test::linear(32), test::linear(32)}, {});
  CHECK(recognize_transformer(narrow).why_not ==
        "behind an attention stands no feed-forward part of two or three linear layers");
}

}  // namespace transformer_recognize_test

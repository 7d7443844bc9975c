// Families of models: one file of layers, sizes with names and numbers, and how a name finds its size.
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/model_families.hpp"
#include "sim/scenario/schema/schema_sizes.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace model_sizes_test {

using namespace foretrain;

namespace {

const std::string kFamily = R"(description = "a family"
input = ["$side"]
layers = [
  { type = "block", block = "unit", repeat = "$deep", with = { out = "2*$side" } },
  { type = "linear", out = "$side", bias = "$bias" },
  { type = "loss" },
]
defaults = { bias = 0, deep = 0 }

[blocks.unit]
layers = [{ type = "linear", out = "$out", bias = "$bias" }]

[sizes.small]
with = { side = 4 }
parameters = 16

[sizes.large]
description = "the large one"
with = { side = 4, bias = 1, deep = 1 }
)";

Model read_size(const std::string& size) {
  SourceText source{"family.toml", kFamily};
  source.part = size;
  Diagnostics diagnostics(source);
  Model model = read_model(source, diagnostics);
  INFO(format(diagnostics.found()));
  REQUIRE(diagnostics.empty());
  return model;
}

}  // namespace

TEST_CASE("a size puts its numbers into layers, blocks, flags and repeats") {
  const Model small = read_size("small"), large = read_size("large");
  CHECK(small.name == "small");
  CHECK(small.description == "a family");
  CHECK(expand(small).model.parameter_elements() == 4 * 4);
  CHECK(large.name == "large");
  CHECK(large.description == "the large one");
  CHECK(expand(large).model.parameter_elements() == (4 * 8 + 8) + (8 * 4 + 4));
}

TEST_CASE("a file of sizes that is named itself is its first size") { CHECK(read_size("").name == "small"); }

TEST_CASE("mistakes of sizes stand at their place") {
  CHECK(test::model_mistakes(
            "input = [4]\nlayers = [{ type = \"linear\", out = \"$x\" }, { type = \"loss\" }]\n"
            "[sizes.a]\nwith = { x = 0 }\n") ==
        R"(m.toml:4:14: error: "$x" is used for out, which must be an integer from 1 to 1000000000
  4 | with = { x = 0 }
    |              ^
)");
  CHECK(test::model_mistakes("input = [\"$side\"]\nlayers = [{ type = \"relu\" }, { type = \"loss\" }]\n"
                             "[sizes.a]\nwith = { side = 0 }\n") ==
        R"(m.toml:1:10: error: "$side" is used for input, which must be an integer from 1 to 1000000000
  1 | input = ["$side"]
    |          ^^^^^^^
)");
  CHECK(test::model_mistakes(
            "input = [4]\nlayers = [{ type = \"linear\", out = \"8/$x\" }, { type = \"loss\" }]\n"
            "[sizes.a]\nwith = { x = 0 }\n") ==
        R"(m.toml:2:36: error: "8/$x" divides by zero or is too large
  2 | layers = [{ type = "linear", out = "8/$x" }, { type = "loss" }]
    |                                    ^^^^^^
)");
  CHECK(test::model_mistakes("input = [4]\nlayers = [{ type = \"loss\" }]\n[sizes.a]\nwith = { x = \"4\" }\n"
                             "wiht = 3\n") == R"(m.toml:4:14: error: sizes.a.with.x must be an integer
  4 | with = { x = "4" }
    |              ^^^
m.toml:5:1: error: unknown key "wiht" in [sizes.a]
  5 | wiht = 3
    | ^^^^
  hint: did you mean "with"?
2 errors
)");
}

TEST_CASE("a size is found by its name, by the name of a library, and by one spelt alike") {
  test::use_source_catalogs();
  for (const char* name : {"whisper_small", "openai/whisper-small", "Whisper-Small"}) {
    INFO(name);
    const auto source = open_named(CatalogKind::models, name);
    REQUIRE(source.has_value());
    CHECK(source->part == "whisper_small");
    CHECK(read_or_throw(*source, read_model).name == "whisper_small");
  }
  CHECK_THAT(unknown_name_hint(CatalogKind::models, "whisper_smal"), ContainsSubstring("whisper_small"));
  CHECK_THROWS_AS(open_named(CatalogKind::models, "openai/whisper-smal"), InputError);
}

TEST_CASE("what a program is told names a model of the catalog") {
  test::use_source_catalogs();
  CHECK(model_named("yolov5s.pt") == "yolov5s");
  CHECK(model_named("yolo11n.yaml") == "yolo11n");
  CHECK(model_named("openai/whisper-small") == "whisper_small");
  CHECK(model_named("ResNet-50") == "resnet50");
  CHECK(model_named("best.pt").empty());
}

TEST_CASE("every size of the catalog has its published number of parameters") {
  test::use_source_catalogs();
  int compared = 0;
  for (const FamilySize& named : family_sizes(catalog_roots())) {
    INFO(named.name);
    SourceText source = read_text_file(named.path);
    Diagnostics diagnostics(source);
    const Table table = parse_toml(source, diagnostics);
    TableReader document(table, "", diagnostics);
    const std::vector<ModelSize> sizes = read_sizes(document, "sizes", read_defaults(document, "defaults"));
    source.part = named.name;
    const ModelSize* size = chosen_size(sizes, source);
    REQUIRE(size != nullptr);
    CHECK(size->name == named.name);
    CHECK_FALSE(size->source.empty());
    const ExpandedModel model = expand(read_or_throw(source, read_model)).model;
    std::int64_t parameters = model.parameter_elements();
    for (const Parameter& frozen : model.frozen) parameters += frozen.elements;
    CHECK(parameters == size->published);
    ++compared;
  }
  CHECK(compared >= 60);
}

}  // namespace model_sizes_test

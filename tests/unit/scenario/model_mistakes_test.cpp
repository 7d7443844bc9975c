// Mistakes in model files: the whole message of each.
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace model_mistakes_test {

using namespace foretrain;
using test::Mistake;

namespace {

// clang-format off
const std::vector<Mistake> kMistakes{
    {"no input",
     R"(layers = [{ type = "linear", out = 2 }, { type = "loss" }]
)",
     R"(m.toml: error: input is missing
  hint: add input = [3, 224, 224]
)"},
    {"five input sizes",
     R"(input = [1, 2, 3, 4, 5]
layers = [{ type = "linear", out = 2 }, { type = "loss" }]
)",
     R"(m.toml:1:9: error: input has 5 entries, at most 4 are allowed
  1 | input = [1, 2, 3, 4, 5]
    |         ^^^^^^^^^^^^^^^
)"},
    {"an input of zero",
     R"(input = [3, 0, 8]
layers = [{ type = "linear", out = 2 }, { type = "loss" }]
)",
     R"(m.toml:1:13: error: input must hold integers from 1 to 1000000000
  1 | input = [3, 0, 8]
    |             ^
)"},
    {"an empty input",
     R"(input = []
layers = [{ type = "linear", out = 2 }, { type = "loss" }]
)",
     R"(m.toml:1:9: error: input is empty
  1 | input = []
    |         ^^
  hint: write channels, height and width
)"},
    {"no layers",
     R"(input = [4]
)",
     R"(m.toml: error: layers is missing
  hint: add layers = [{ type = "relu" }]
)"},
    {"an empty list of layers",
     R"(input = [4]
layers = []
)",
     R"(m.toml:2:10: error: layers is empty
  2 | layers = []
    |          ^^
)"},
    {"a layer that is no table",
     R"(input = [4]
layers = ["linear"]
)",
     R"(m.toml:2:11: error: a layer must be a table
  2 | layers = ["linear"]
    |           ^^^^^^^^
  hint: write it as in { type = "relu" }
)"},
    {"a layer without its type",
     R"(input = [4]
layers = [{ out = 2 }]
)",
     R"(m.toml:2:11: error: layer.type is missing
  2 | layers = [{ out = 2 }]
    |           ^^^^^^^^^^^
  hint: add type = "relu"
)"},
    {"a misspelt type",
     R"(input = [4]
layers = [{ type = "linaer", out = 2 }]
)",
     R"(m.toml:2:20: error: unknown layer.type "linaer"
  2 | layers = [{ type = "linaer", out = 2 }]
    |                    ^^^^^^^^
  hint: did you mean "linear"?
)"},
    {"a layer without a required size",
     R"(input = [4]
layers = [{ type = "linear" }]
)",
     R"(m.toml:2:11: error: linear.out is missing
  2 | layers = [{ type = "linear" }]
    |           ^^^^^^^^^^^^^^^^^^^
  hint: add out = 3
)"},
    {"a size of the wrong kind",
     R"(input = [4]
layers = [{ type = "linear", out = 2.5 }]
)",
     R"(m.toml:2:36: error: linear.out must be an integer from 1 to 1000000000
  2 | layers = [{ type = "linear", out = 2.5 }]
    |                                    ^^^
)"},
    {"a key of another layer",
     R"(input = [4]
layers = [{ type = "batch_norm", kernel = 3 }]
)",
     R"(m.toml:2:34: error: unknown key "kernel" in [batch_norm]
  2 | layers = [{ type = "batch_norm", kernel = 3 }]
    |                                  ^^^^^^
  hint: known: type, name, from, as, weights
)"},
    {"a parameter outside a block",
     R"(input = [4]
layers = [{ type = "linear", out = "$width" }]
)",
     R"(m.toml:2:36: error: "$width" has a meaning only inside a block
  2 | layers = [{ type = "linear", out = "$width" }]
    |                                    ^^^^^^^^
)"},
    {"an unknown padding",
     R"(input = [3, 8, 8]
layers = [{ type = "conv2d", out = 2, kernel = 3, padding = "smae" }]
)",
     R"(m.toml:2:61: error: conv2d.padding must be an integer from 0 to 1000000000, or "same"
  2 | layers = [{ type = "conv2d", out = 2, kernel = 3, padding = "smae" }]
    |                                                             ^^^^^^
)"},
    {"an unknown block",
     R"(input = [4]
layers = [{ type = "block", block = "botleneck" }]
[blocks.bottleneck]
layers = [{ type = "relu" }]
)",
     R"(m.toml:2:37: error: unknown block "botleneck"
  2 | layers = [{ type = "block", block = "botleneck" }]
    |                                     ^^^^^^^^^^^
  hint: did you mean "bottleneck"?
)"},
    {"a block that uses itself",
     R"(input = [4]
layers = [{ type = "block", block = "a" }]
[blocks.a]
layers = [{ type = "block", block = "a" }]
)",
     R"(m.toml:4:37: error: block a uses a
  4 | layers = [{ type = "block", block = "a" }]
    |                                     ^^^
  hint: a block cannot contain itself
)"},
    {"two blocks that use each other",
     R"(input = [4]
layers = [{ type = "block", block = "a" }]
[blocks.a]
layers = [{ type = "block", block = "b" }]
[blocks.b]
layers = [{ type = "block", block = "a" }]
)",
     R"(m.toml:6:37: error: block a uses b uses a
  6 | layers = [{ type = "block", block = "a" }]
    |                                     ^^^
  hint: a block cannot contain itself
)"},
    {"a cycle between blocks nobody uses",
     R"(input = [4]
layers = [{ type = "linear", out = 2 }, { type = "loss" }]
[blocks.a]
layers = [{ type = "add", branches = [[{ type = "block", block = "b" }]] }]
[blocks.b]
layers = [{ type = "block", block = "a" }]
)",
     R"(m.toml:6:37: error: block a uses b uses a
  6 | layers = [{ type = "block", block = "a" }]
    |                                     ^^^
  hint: a block cannot contain itself
)"},
    {"a missing argument",
     R"(input = [4]
layers = [{ type = "block", block = "a" }]
[blocks.a]
layers = [{ type = "linear", out = "$width" }]
)",
     R"(m.toml:2:11: error: block "a" needs "width"
  2 | layers = [{ type = "block", block = "a" }]
    |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: add it to with = { width = … }
)"},
    {"a misspelt argument",
     R"(input = [4]
layers = [{ type = "block", block = "a", with = { width = 3, otu = 4 } }]
[blocks.a]
layers = [{ type = "linear", out = "$width" }, { type = "linear", out = "$out" }]
)",
     R"(m.toml:2:11: error: block "a" needs "out"
  2 | layers = [{ type = "block", block = "a", with = { width = 3, otu = 4 } }]
    |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: add it to with = { out = … }
m.toml:2:62: error: block "a" has no parameter "otu"
  2 | layers = [{ type = "block", block = "a", with = { width = 3, otu = 4 } }]
    |                                                              ^^^
  hint: did you mean "out"?
2 errors
)"},
    {"an argument out of range",
     R"(input = [4]
layers = [{ type = "block", block = "a", with = { width = 0 } }]
[blocks.a]
layers = [{ type = "linear", out = "$width" }]
)",
     R"(m.toml:2:59: error: "$width" is used for out, which must be an integer from 1 to 1000000000
  2 | layers = [{ type = "block", block = "a", with = { width = 0 } }]
    |                                                           ^
)"},
    {"a repeat of zero",
     R"(input = [4]
layers = [{ type = "block", block = "a", repeat = 0 }]
[blocks.a]
layers = [{ type = "relu" }]
)",
     R"(m.toml:2:51: error: layer.repeat must be an integer from 1 to 100000
  2 | layers = [{ type = "block", block = "a", repeat = 0 }]
    |                                                   ^
)"},
    {"a block without layers",
     R"(input = [4]
layers = [{ type = "linear", out = 2 }, { type = "loss" }]
[blocks.a]
layers = []
)",
     R"(m.toml:4:10: error: blocks.a.layers is empty
  4 | layers = []
    |          ^^
)"},
    {"a block that is no table",
     R"(input = [4]
layers = [{ type = "linear", out = 2 }, { type = "loss" }]
[blocks]
a = 3
)",
     R"(m.toml:4:5: error: blocks.a must be a table with layers
  4 | a = 3
    |     ^
)"},
    {"a branch that is no list",
     R"(input = [4]
layers = [{ type = "add", branches = [{ type = "relu" }] }]
)",
     R"(m.toml:2:39: error: a branch must be a list of layers
  2 | layers = [{ type = "add", branches = [{ type = "relu" }] }]
    |                                       ^^^^^^^^^^^^^^^^^
  hint: an empty list passes the input on
)"},
    {"add without branches",
     R"(input = [4]
layers = [{ type = "add" }]
)",
     R"(m.toml:2:11: error: add.branches is missing
  2 | layers = [{ type = "add" }]
    |           ^^^^^^^^^^^^^^^^
  hint: add branches = [[…], []]
)"},
    {"a repeat bomb",
     R"(input = [4]
layers = [{ type = "block", block = "a", repeat = 99999 }]
[blocks.a]
layers = [{ type = "block", block = "b", repeat = 99999 }]
[blocks.b]
layers = [{ type = "relu" }, { type = "relu" }]
)",
     R"(m.toml:6:11: error: the model has more than 100000 layers
  6 | layers = [{ type = "relu" }, { type = "relu" }]
    |           ^^^^^^^^^^^^^^^^^
  hint: is a repeat too large?
)"},
    {"a timed layer without a unit and without backward",
     R"(input = [1]
layers = [{ type = "timed", forward = 3 }, { type = "loss" }]
)",
     R"(m.toml:2:11: error: timed.backward is missing
  2 | layers = [{ type = "timed", forward = 3 }, { type = "loss" }]
    |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: add backward = "10 ms"
m.toml:2:39: error: timed.forward is a time and needs its unit, as in "2.5 us"
  2 | layers = [{ type = "timed", forward = 3 }, { type = "loss" }]
    |                                       ^
2 errors
)"},
    {"a misfit inside a block that is used twice",
     R"(input = [4]
layers = [{ type = "block", block = "a", repeat = 2 }, { type = "loss" }]
[blocks.a]
layers = [{ type = "conv2d", out = 2, kernel = 3 }]
)",
     R"(m.toml:4:11: error: conv2d needs an image [channels, height, width], not [4]
  4 | layers = [{ type = "conv2d", out = 2, kernel = 3 }]
    |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: place it before flatten
)"},
};
// clang-format on

}  // namespace

TEST_CASE("every mistake in a model file is reported with place, caret and hint") {
  for (const Mistake& mistake : kMistakes) {
    INFO(mistake.what);
    CHECK(test::model_mistakes(mistake.text) == mistake.message);
  }
}

}  // namespace model_mistakes_test

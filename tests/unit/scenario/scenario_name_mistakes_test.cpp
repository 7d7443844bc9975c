// Mistakes in names, kinds and choices of a scenario: the whole message of each.
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace scenario_name_mistakes_test {

using namespace foretrain;
using test::Mistake;

namespace {

// clang-format off
const std::vector<Mistake> kMistakes{
    {"a misspelt key in a table",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
epocs = 3
)",
     R"(s.toml:6:1: error: unknown key "epocs" in [run]
  6 | epocs = 3
    | ^^^^^
  hint: did you mean "epochs"?
)"},
    {"a misspelt table",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[startegy]
name = "ddp"
)",
     R"(s.toml:5:2: error: unknown key "startegy"
  5 | [startegy]
    |  ^^^^^^^^
  hint: did you mean "strategy"?
)"},
    {"a key nobody knows and nothing resembles",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
colour = "red"
)",
     R"(s.toml:6:1: error: unknown key "colour" in [run]
  6 | colour = "red"
    | ^^^^^^
  hint: known: gpus, epochs, startup, every
)"},
    {"a missing model name",
     R"([model]
batch_per_gpu = 3
[cluster]
name = "raven"
)",
     R"(s.toml:1:1: error: model.name is missing
  1 | [model]
    | ^^^^^^^
  hint: add name = "resnet50"
)"},
    {"a missing cluster table",
     R"([model]
name = "spiral_mlp"
)",
     R"(s.toml: error: cluster.name is missing
  hint: add name = "mahti"
)"},
    {"an unknown cluster",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "mathi"
)",
     R"(s.toml:4:8: error: unknown cluster "mathi"
  4 | name = "mathi"
    |        ^^^^^^^
  hint: did you mean "mahti"? All: foretrain list clusters; your own: a file (CONTRIBUTING.md, Recipes), as in ./mine.toml
)"},
    {"an unknown model",
     R"([model]
name = "resnet51"
[cluster]
name = "raven"
)",
     R"(s.toml:2:8: error: unknown model "resnet51"
  2 | name = "resnet51"
    |        ^^^^^^^^^^
  hint: did you mean "resnet50", "resnet101" or "resnet152"? All: foretrain list models; your own: a file (docs/models/networks.md), as in ./mine.toml
)"},
    {"a model file that does not exist",
     R"([model]
name = "no/such.toml"
[cluster]
name = "raven"
)",
     R"(s.toml:2:8: error: no/such.toml does not exist
  2 | name = "no/such.toml"
    |        ^^^^^^^^^^^^^^
)"},
    {"an unknown strategy",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[strategy]
name = "ddq"
)",
     R"(s.toml:6:8: error: unknown strategy.name "ddq"
  6 | name = "ddq"
    |        ^^^^^
  hint: did you mean "ddp" or "dp"?
)"},
    {"a string where an integer belongs",
     R"([model]
name = "spiral_mlp"
batch_per_gpu = "32"
[cluster]
name = "raven"
)",
     R"(s.toml:3:17: error: model.batch_per_gpu must be an integer from 1 to 1000000
  3 | batch_per_gpu = "32"
    |                 ^^^^
)"},
    {"a batch of zero",
     R"([model]
name = "spiral_mlp"
batch_per_gpu = 0
[cluster]
name = "raven"
)",
     R"(s.toml:3:17: error: model.batch_per_gpu must be an integer from 1 to 1000000
  3 | batch_per_gpu = 0
    |                 ^
)"},
    {"both kinds of batch",
     R"([model]
name = "spiral_mlp"
batch_per_gpu = 32
global_batch = 64
[cluster]
name = "raven"
)",
     R"(s.toml:4:16: error: model has both batch_per_gpu and global_batch
  4 | global_batch = 64
    |                ^^
  hint: batch_per_gpu keeps the work per GPU the same (weak scaling), global_batch divides it (strong scaling)
)"},
    {"an integer where a name belongs",
     R"([model]
name = 50
[cluster]
name = "raven"
)",
     R"(s.toml:2:8: error: model.name must be a string, not an integer
  2 | name = 50
    |        ^^
)"},
    {"a table where a scalar belongs",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run.epochs]
value = 3
)",
     R"(s.toml:5:1: error: run.epochs must be a number from 0 to 1000000
  5 | [run.epochs]
    | ^^^^^^^^^^^^
)"},
    {"a scalar where a table belongs",
     R"(run = 3
[model]
name = "spiral_mlp"
[cluster]
name = "raven"
)",
     R"(s.toml:1:7: error: run must be a table, not an integer
  1 | run = 3
    |       ^
)"},
    {"an unknown precision",
     R"([model]
name = "spiral_mlp"
precision = "fp61"
[cluster]
name = "raven"
)",
     R"(s.toml:3:13: error: unknown model.precision "fp61"
  3 | precision = "fp61"
    |             ^^^^^^
  hint: did you mean "fp16", "fp32" or "fp8"?
)"},
    {"an unknown optimizer",
     R"([model]
name = "spiral_mlp"
optimizer = "adma"
[cluster]
name = "raven"
)",
     R"(s.toml:3:13: error: unknown model.optimizer "adma"
  3 | optimizer = "adma"
    |             ^^^^^^
  hint: did you mean "adam" or "adamw"?
)"},
};
// clang-format on

}  // namespace

TEST_CASE("every mistake in a name or a kind is reported with place, caret and hint") {
  for (const Mistake& mistake : kMistakes) {
    INFO(mistake.what);
    CHECK(test::scenario_mistakes(mistake.text) == mistake.message);
  }
}

}  // namespace scenario_name_mistakes_test

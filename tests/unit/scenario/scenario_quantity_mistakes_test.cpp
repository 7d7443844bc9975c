// Mistakes in the quantities and numbers of a scenario: the whole message of each.
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace scenario_quantity_mistakes_test {

using namespace foretrain;
using test::Mistake;

namespace {

// clang-format off
const std::vector<Mistake> kMistakes{
    {"a size without a unit",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[strategy]
bucket_cap = 25
)",
     R"(s.toml:6:14: error: strategy.bucket_cap is a size and needs its unit, as in "25 MiB"
  6 | bucket_cap = 25
    |              ^^
)"},
    {"a size in a string without a unit",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[strategy]
bucket_cap = "25"
)",
     R"(s.toml:6:14: error: strategy.bucket_cap: "25" has no unit
  6 | bucket_cap = "25"
    |              ^^^^
  hint: write it as in "25 MiB"
)"},
    {"a time where a size belongs",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[strategy]
bucket_cap = "5 s"
)",
     R"(s.toml:6:14: error: strategy.bucket_cap: "5 s" is a time, a size is needed
  6 | bucket_cap = "5 s"
    |              ^^^^^
  hint: write it as in "25 MiB"
)"},
    {"a bandwidth where a time belongs",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[data]
decode = "400 Gbps"
)",
     R"(s.toml:6:10: error: data.decode: "400 Gbps" is a bandwidth, a time is needed
  6 | decode = "400 Gbps"
    |          ^^^^^^^^^^
  hint: write it as in "2.5 us"
)"},
    {"an unknown unit",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[data]
decode = "3 parsec"
)",
     R"(s.toml:6:10: error: data.decode: unknown unit "parsec"
  6 | decode = "3 parsec"
    |          ^^^^^^^^^^
  hint: write it as in "2.5 us"
)"},
    {"a negative time",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
startup = "-3 s"
)",
     R"(s.toml:6:11: error: run.startup: "-3 s" is negative
  6 | startup = "-3 s"
    |           ^^^^^^
  hint: write it as in "2.5 us"
)"},
    {"a time that is not a number",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
startup = "nan s"
)",
     R"(s.toml:6:11: error: run.startup: "nan s" is not a finite number
  6 | startup = "nan s"
    |           ^^^^^^^
  hint: write it as in "2.5 us"
)"},
    {"a time beyond the longest",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
startup = "900 days"
)",
     R"(s.toml:6:11: error: run.startup: "900 days" is out of range
  6 | startup = "900 days"
    |           ^^^^^^^^^^
  hint: a time is 0, or from 1.15741e-17 days to 11.5741 days
)"},
    {"a size of zero",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[data]
sample_bytes = "0 B"
)",
     R"(s.toml:6:16: error: data.sample_bytes must be at least one byte
  6 | sample_bytes = "0 B"
    |                ^^^^^
)"},
    {"true where a size belongs",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[data]
sample_bytes = true
)",
     R"(s.toml:6:16: error: data.sample_bytes must be a size with its unit, as in "25 MiB", not true or false
  6 | sample_bytes = true
    |                ^^^^
)"},
    {"epochs that are not a number",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
epochs = nan
)",
     R"(s.toml:6:10: error: run.epochs must be a number from 0 to 1000000
  6 | epochs = nan
    |          ^^^
)"},
    {"epochs below zero",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
epochs = -1
)",
     R"(s.toml:6:10: error: run.epochs must be a number from 0 to 1000000
  6 | epochs = -1
    |          ^^
)"},
};
// clang-format on

}  // namespace

TEST_CASE("every mistake in a quantity names what was expected and shows an example") {
  for (const Mistake& mistake : kMistakes) {
    INFO(mistake.what);
    CHECK(test::scenario_mistakes(mistake.text) == mistake.message);
  }
}

}  // namespace scenario_quantity_mistakes_test

// Mistakes in GPU counts, periodic work, anchors and in the TOML itself: the whole message of each.
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace scenario_run_mistakes_test {

using namespace foretrain;
using test::Mistake;

namespace {

// clang-format off
const std::vector<Mistake> kMistakes{
    {"more GPUs than the cluster has",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "mahti"
[run]
gpus = [1, 4, 128]
)",
     R"(s.toml:6:15: error: cluster mahti has 96 GPUs
  6 | gpus = [1, 4, 128]
    |               ^^^
)"},
    {"several numbers beyond the cluster are one mistake",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "mahti"
[run]
gpus = [128, 4, 256, 512]
)",
     R"(s.toml:6:9: error: cluster mahti has 96 GPUs; 3 of these numbers are larger
  6 | gpus = [128, 4, 256, 512]
    |         ^^^
)"},
    {"zero GPUs",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
gpus = [0, 1]
)",
     R"(s.toml:6:9: error: run.gpus must hold integers from 1 to 1000000
  6 | gpus = [0, 1]
    |         ^
)"},
    {"no GPUs at all",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
gpus = []
)",
     R"(s.toml:6:8: error: run.gpus is empty
  6 | gpus = []
    |        ^^
  hint: leave it out to get 1, 2, 4, … up to the whole cluster
)"},
    {"a single number for the list of GPUs",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
gpus = 4
)",
     R"(s.toml:6:8: error: run.gpus must be a list in square brackets, not an integer
  6 | gpus = 4
    |        ^
)"},
    {"more GPUs than samples in the global batch",
     R"([model]
name = "spiral_mlp"
global_batch = 2
[cluster]
name = "raven"
[run]
gpus = [1, 4]
)",
     R"(s.toml:7:12: error: 4 GPUs cannot share a global batch of 2
  7 | gpus = [1, 4]
    |            ^
)"},
    {"too many workers",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[data]
workers_per_gpu = 257
)",
     R"(s.toml:6:19: error: data.workers_per_gpu must be an integer from 0 to 256
  6 | workers_per_gpu = 257
    |                   ^^^
)"},
    {"accumulation of zero",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[strategy]
accumulation = 0
)",
     R"(s.toml:6:16: error: strategy.accumulation must be an integer from 1 to 4096
  6 | accumulation = 0
    |                ^
)"},
    {"an unknown layout",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
layout = "pakced"
)",
     R"(s.toml:5:10: error: unknown cluster.layout "pakced"
  5 | layout = "pakced"
    |          ^^^^^^^^
  hint: did you mean "packed"?
)"},
    {"a validation without its duration",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run.every]
validation = { epochs = 2 }
)",
     R"(s.toml:6:14: error: run.every.validation.duration is missing
  6 | validation = { epochs = 2 }
    |              ^^^^^^^^^^^^^^
  hint: add duration = "30 s", or samples = 50_000 for a forward pass over them
)"},
    {"a validation with a duration and samples",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run.every]
validation = { duration = "1 s", samples = 100 }
)",
     R"(s.toml:6:44: error: run.every.validation.duration and samples exclude each other
  6 | validation = { duration = "1 s", samples = 100 }
    |                                            ^^^
  hint: give a duration, samples to pass over, or a bandwidth to write at
)"},
    {"a checkpoint written at no rate",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run.every]
checkpoint = { bandwidth = "0 GBps" }
)",
     R"(s.toml:6:28: error: run.every.checkpoint.bandwidth must be more than zero
  6 | checkpoint = { bandwidth = "0 GBps" }
    |                            ^^^^^^^^
)"},
    {"a batch of a validation that lasts as long as is said",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run.every]
validation = { duration = "1 s", batch_per_gpu = 10 }
)",
     R"(s.toml:6:50: error: run.every.validation.batch_per_gpu needs samples
  6 | validation = { duration = "1 s", batch_per_gpu = 10 }
    |                                                  ^^
  hint: how many does it pass over?
)"},
    {"an anchor that scales something unknown",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[measured]
step = "5 ms"
scales = "hots"
)",
     R"(s.toml:7:10: error: unknown measured.scales "hots"
  7 | scales = "hots"
    |          ^^^^^^
  hint: did you mean "host"?
)"},
    {"a misspelt key of a validation",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run.every]
validation = { epoch = 2, duration = "1 s" }
)",
     R"(s.toml:6:16: error: unknown key "epoch" in [run.every.validation]
  6 | validation = { epoch = 2, duration = "1 s" }
    |                ^^^^^
  hint: did you mean "epochs"?
)"},
    {"an anchor without a figure",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[measured]
gpus = 1
)",
     R"(s.toml:5:1: error: measured.samples_per_s is missing
  5 | [measured]
    | ^^^^^^^^^^
  hint: add samples_per_s = 325.95, or step or epoch as a time
)"},
    {"an anchor with two figures",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[measured]
step = "3 ms"
samples_per_s = 100
)",
     R"(s.toml:6:8: error: measured has both samples_per_s and step
  6 | step = "3 ms"
    |        ^^^^^^
  hint: give one of them
)"},
    {"an anchor per epoch without samples",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[measured]
epoch = "7.25 s"
)",
     R"(s.toml:6:9: error: measured.epoch needs data.samples
  6 | epoch = "7.25 s"
    |         ^^^^^^^^
  hint: how many samples has one epoch?
)"},
    {"an anchor on more GPUs than there are",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "mahti"
[measured]
gpus = 97
samples_per_s = 100
)",
     R"(s.toml:6:8: error: cluster mahti has 96 GPUs
  6 | gpus = 97
    |        ^^
)"},
    {"a date",
     R"(note = 2026-01-01
[model]
name = "spiral_mlp"
[cluster]
name = "raven"
)",
     R"(s.toml:1:8: error: dates and times of day are not used here
  1 | note = 2026-01-01
    |        ^^^^^^^^^^
)"},
    {"a value that is missing",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
epochs = 
)",
     R"(s.toml:6:10: error: cannot read key-value pair: expected value, saw '\n'
  6 | epochs = 
    |          ^
)"},
    {"a header that is not closed",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run
epochs = 3
)",
     R"(s.toml:5:5: error: cannot read table header: expected ']', saw '\n'
  5 | [run
    |     ^
)"},
    {"a key given twice",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run]
epochs = 3
epochs = 4
)",
     R"(s.toml:7:10: error: cannot read key-value pair: cannot redefine existing integer 'epochs'
  7 | epochs = 4
    |          ^
)"},
    {"a string that is not closed",
     R"([model]
name = "spiral_mlp"
[cluster]
name = "raven"
[strategy]
name = "ddp
)",
     R"(s.toml:6:12: error: the string does not end on its line
  6 | name = "ddp
    |            ^
)"},
    {"a place after letters beyond ASCII",
     R"(note = "Zürich, größer"
[model]
name = "spiral_mlp"
[cluster]
name = "raven"
[run.every]
"Prüfung" = { epochs = 0, duration = "1 s" }
)",
     R"(s.toml:7:25: error: run.every.Prüfung.epochs must be a number from 1e-06 to 1000000
  7 | "Prüfung" = { epochs = 0, duration = "1 s" }
    |                        ^
)"},
};
// clang-format on

}  // namespace

TEST_CASE("every mistake in the run, the anchor or the TOML itself is reported at its place") {
  for (const Mistake& mistake : kMistakes) {
    INFO(mistake.what);
    CHECK(test::scenario_mistakes(mistake.text) == mistake.message);
  }
}

}  // namespace scenario_run_mistakes_test

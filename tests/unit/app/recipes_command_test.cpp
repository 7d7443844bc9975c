// A recipe that describes its network is predicted without a model by name.
#include <string>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace recipes_command_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;
using test::TemporaryFolder;

TEST_CASE("predict takes layers, degrees and batch of a recipe of GPT-NeoX") {
  const TemporaryFolder folder;
  folder.write("20b.yml",
               "{\n  \"pipe-parallel-size\": 4,\n  \"model-parallel-size\": 2,\n  \"num-layers\": 44,\n"
               "  \"hidden-size\": 6144,\n  \"num-attention-heads\": 64,\n  \"seq-length\": 2048,\n"
               "  \"train_micro_batch_size_per_gpu\": 4,\n  \"gradient_accumulation_steps\": 32,\n"
               "  \"zero_optimization\": {\"stage\": 1},\n  \"fp16\": {\"enabled\": true},\n"
               "  \"checkpoint-activations\": true\n}\n");
  const auto run =
      folder.run("foretrain predict --settings 20b.yml --cluster dgx-a100-80gb --gpus 96 --format json");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("TP 2 x PP 4"));
}

}  // namespace recipes_command_test

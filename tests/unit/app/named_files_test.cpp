// Files on the command line go to the reader of what they hold, whatever they are called and wherever they
// stand.
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace named_files_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

constexpr const char* kScript =
    "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gpus-per-node=4\ntorchrun --nproc_per_node=4 train.py\n";

constexpr const char* kProgram =
    "from transformers import AutoModelForCausalLM, TrainingArguments, Trainer\n"
    "model = AutoModelForCausalLM.from_pretrained(\"openai-community/gpt2\")\n"
    "args = TrainingArguments(output_dir=\"x\", per_device_train_batch_size=3, bf16=True)\n"
    "Trainer(model=model, args=args).train()\n";

/// TinyLlama: 1,100,048,384 parameters.
constexpr const char* kConfig =
    R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048,
 "intermediate_size": 5632, "num_attention_heads": 32, "num_key_value_heads": 4, "num_hidden_layers": 22,
 "vocab_size": 32000, "rms_norm_eps": 1e-5, "max_position_embeddings": 2048, "hidden_act": "silu",
 "tie_word_embeddings": false})";

}  // namespace

TEST_CASE("a program beside its script is read as a program") {
  const TemporaryFolder folder;
  folder.write("job.sh", kScript);
  folder.write("train.py", kProgram);
  const std::string places = " --cluster puhti --details";
  const ProgramRun apart = folder.run("foretrain predict job.sh --settings train.py" + places);
  REQUIRE(apart.exit_code == 0);
  CHECK_THAT(apart.output, ContainsSubstring("gpt2 on puhti with ddp, bf16, batch 3"));
  for (const char* files : {"job.sh train.py", "predict job.sh train.py", "predict train.py job.sh"}) {
    INFO(files);
    CHECK(folder.run(std::string("foretrain ") + files + places).output == apart.output);
  }
}

TEST_CASE("another tool's network is a model wherever it is named") {
  const TemporaryFolder folder;
  folder.write("network.txt", kConfig);  // what it is, its text says
  folder.write("job.sh", kScript);
  const ProgramRun shown = folder.run("foretrain model show network.txt");
  REQUIRE(shown.exit_code == 0);
  CHECK_THAT(shown.output, ContainsSubstring("1,100,048,384"));
  const std::string places = " --gpu a100-sxm4-40gb --gpus 1 --batch 1";
  const ProgramRun named = folder.run("foretrain predict --model network.txt" + places);
  REQUIRE(named.exit_code == 0);
  CHECK(folder.run("foretrain predict network.txt" + places).output == named.output);
  CHECK(folder.run("foretrain job.sh network.txt --cluster puhti").exit_code == 0);
  CHECK(folder.run("foretrain job check job.sh --model network.txt --cluster puhti").exit_code == 0);
  CHECK(folder.run("foretrain plan --model network.txt --cluster puhti --gpus 4").exit_code == 0);
  CHECK(folder.run("foretrain compare network.txt --cluster puhti --gpus 4").exit_code == 0);
}

TEST_CASE("two networks for one training are a mistake, and so is a network that nobody can read") {
  const TemporaryFolder folder;
  folder.write("config.json", kConfig);
  const ProgramRun two = folder.run("foretrain predict config.json --model gpt2 --cluster puhti");
  CHECK(two.exit_code == 1);
  CHECK_THAT(two.output, ContainsSubstring("gpt2 and config.json are two networks for one training"));
  folder.write("odd.json", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
 "hidden_size": 2048, "num_attention_heads": 7})");
  const ProgramRun odd = folder.run("foretrain predict --model odd.json --cluster puhti");
  CHECK(odd.exit_code == 1);
  CHECK_THAT(odd.output, ContainsSubstring("odd.json"));
}

TEST_CASE("settings that are TOML go to their reader, scenarios stay scenarios") {
  const TemporaryFolder folder;
  folder.write("scenario.toml",
               "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"star-1gpu\"\n[run]\ngpus = [1, 2]\n");
  folder.write("titan.toml",
               "[job]\ndescription = \"x\"\n\n[training]\nlocal_batch_size = 5\nseq_len = 2048\n");
  CHECK(folder.run("foretrain scenario.toml").exit_code == 0);
  CHECK_THAT(
      folder.run("foretrain titan.toml --model llama3_2_1b --gpu a100-sxm4-80gb --gpus 2 --details").output,
      ContainsSubstring("batch 5 per GPU"));
}

}  // namespace named_files_test

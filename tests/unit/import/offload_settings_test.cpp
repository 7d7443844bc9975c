// Offload in the files of DeepSpeed, accelerate, transformers, Lightning and in calls of PyTorch.
#include <algorithm>

#include "sim/import/settings/readers.hpp"
#include "sim/import/settings/trees.hpp"
#include "tests/support/catch.hpp"

namespace offload_settings_test {

using namespace foretrain;

namespace {

TrainingSettings read(const std::string& text) {
  return read_settings({"file", text}, {0, nullptr, nullptr});
}

std::string zero(int stage, const std::string& offload) {
  return "{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": {\"stage\": " +
         std::to_string(stage) + ", " + offload + "}}";
}

std::string mistake_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("DeepSpeed: parameters and optimizer go to the devices that are named") {
  const TrainingSettings both =
      read(zero(3, R"("offload_optimizer": {"device": "nvme", "nvme_path": "/d", "pin_memory": false},
                      "offload_param": {"device": "cpu", "buffer_count": 5})"));
  CHECK(value_of(both, "strategy.offload_optimizer") == "\"nvme\"");
  CHECK(value_of(both, "strategy.offload_param") == "\"cpu\"");
  CHECK(value_of(both, "strategy.pin_memory") == "false");
  CHECK(unmodelled_settings(both).empty());
  const TrainingSettings old = read(zero(3, R"("cpu_offload": true, "cpu_offload_params": true)"));
  CHECK(value_of(old, "strategy.offload_optimizer") == "\"cpu\"");
  CHECK(value_of(old, "strategy.offload_param") == "\"cpu\"");
}

TEST_CASE("DeepSpeed: below stage 3 no parameters are offloaded") {
  const TrainingSettings two = read(zero(2, R"("offload_param": {"device": "cpu"})"));
  CHECK(value_of(two, "strategy.offload_param").empty());
  const auto key = std::ranges::find(two.keys, "zero_optimization.offload_param.device", &ReadKey::path);
  REQUIRE(key != two.keys.end());
  CHECK(key->fate == KeyFate::no_influence);
}

TEST_CASE("DeepSpeed: an unknown device is named with its line") {
  const std::string told =
      mistake_of("{\"zero_optimization\": {\"stage\": 3,\n  \"offload_param\": {\"device\": \"disk\"}}}");
  CHECK_THAT(told, ContainsSubstring("file:2:"));
  CHECK_THAT(told, ContainsSubstring("\"disk\" is no device of an offload"));
  CHECK_THAT(told, ContainsSubstring("cpu, nvme or none"));
}

TEST_CASE("accelerate: devices of its own DeepSpeed keys and FSDP's flag") {
  const TrainingSettings plugin = read(
      "distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\n  offload_optimizer_device: cpu\n  "
      "offload_param_device: nvme\n");
  CHECK(value_of(plugin, "strategy.offload_optimizer") == "\"cpu\"");
  CHECK(value_of(plugin, "strategy.offload_param") == "\"nvme\"");
  const TrainingSettings fsdp =
      read("distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  fsdp_offload_params: true\n");
  CHECK(value_of(fsdp, "strategy.name") == "\"fsdp2\"");
  CHECK(value_of(fsdp, "strategy.offload_params") == "true");
}

TEST_CASE("transformers: the word offload among those of fsdp") {
  const TrainingSettings told =
      read("per_device_train_batch_size: 1\nfsdp: \"full_shard offload auto_wrap\"\n");
  CHECK(value_of(told, "strategy.name") == "\"fsdp\"");
  CHECK(value_of(told, "strategy.offload_params") == "true");
}

TEST_CASE("Lightning: offload in the name of a strategy") {
  const auto of = [](const std::string& word) {
    return read("trainer:\n  devices: 2\n  strategy: " + word + "\n");
  };
  CHECK(value_of(of("deepspeed_stage_3_offload"), "strategy.offload_param") == "\"cpu\"");
  CHECK(value_of(of("deepspeed_stage_3_offload"), "strategy.offload_optimizer") == "\"cpu\"");
  CHECK(value_of(of("deepspeed_stage_2_offload"), "strategy.offload_param").empty());
  CHECK(value_of(of("fsdp_cpu_offload"), "strategy.offload_params") == "true");
}

TEST_CASE("a program: CPUOffload moves nothing unless it is told to and CPUOffloadPolicy does") {
  const auto of = [](const std::string& call) {
    return value_of(read("from torch.distributed.fsdp import *\nmodel = " + call + "\n"),
                    "strategy.offload_params");
  };
  CHECK(of("FullyShardedDataParallel(model, cpu_offload=CPUOffload(offload_params=True))") == "true");
  CHECK(of("FullyShardedDataParallel(model, cpu_offload=CPUOffload())") == "false");
  CHECK(of("FullyShardedDataParallel(model)").empty());
  CHECK(of("fully_shard(model, offload_policy=CPUOffloadPolicy())") == "true");
  CHECK(of("fully_shard(model, offload_policy=OffloadPolicy())") == "false");
}

}  // namespace offload_settings_test

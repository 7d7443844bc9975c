// FSDP's mixed precision as programs and settings state it: the types of gathers and sums.
#include <algorithm>

#include "sim/import/settings/readers.hpp"
#include "tests/support/catch.hpp"

namespace fsdp_policy_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;

namespace {

TrainingSettings read(const std::string& text) { return read_settings({"file", text}, {}); }

std::string param_type(const std::string& text) { return value_of(read(text), "strategy.param_dtype"); }
std::string reduce_type(const std::string& text) { return value_of(read(text), "strategy.reduce_dtype"); }

std::string mistake(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string kPolicy = "MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)";

}  // namespace

TEST_CASE("a policy is read in the call, from a variable and from an unpacked table") {
  for (const std::string& program :
       {"fully_shard(model, mp_policy=" + kPolicy + ")\n",
        "policy = " + kPolicy + "\nfor layer in model.layers:\n  fully_shard(layer, mp_policy=policy)\n",
        "options = {'mesh': mesh, 'mp_policy': " + kPolicy + "}\nfully_shard(model, **options)\n",
        "options = {}\noptions['mp_policy'] = " + kPolicy + "\nfully_shard(model, **options)\n"}) {
    INFO(program);
    CHECK(value_of(read(program), "strategy.name") == "\"fsdp2\"");
    CHECK(value_of(read(program), "model.precision") == "\"bf16\"");
    CHECK(param_type(program) == "\"bf16\"");
    CHECK(reduce_type(program) == "\"fp32\"");
  }
}

TEST_CASE("FSDP1: what a policy leaves out, and what does not matter") {
  const std::string program =
      "FSDP(m, mixed_precision=MixedPrecision(param_dtype=torch.float16, buffer_dtype=torch.float16,\n"
      "  keep_low_precision_grads=True))\n";
  CHECK(param_type(program) == "\"fp16\"");
  CHECK(value_of(read(program), "model.precision") == "\"amp_fp16\"");
  CHECK(reduce_type(program).empty());
  const auto keys = read(program).keys;
  const auto has = [&](std::string_view path, KeyFate fate) {
    return std::ranges::any_of(keys, [&](const ReadKey& key) {
      return key.path.find(path) != std::string::npos && key.fate == fate;
    });
  };
  CHECK(has("buffer_dtype", KeyFate::no_influence));
  CHECK(has("keep_low_precision_grads", KeyFate::not_modelled));
  CHECK(value_of(read("FSDP(m, mixed_precision=MixedPrecision(param_dtype=torch.float32))\n"),
                 "model.precision")
            .empty());
}

TEST_CASE("of two policies outside of a call, what differs stays open") {
  const std::string two =
      "a = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)\n"
      "b = MixedPrecision(param_dtype=torch.float16, reduce_dtype=torch.float32)\n";
  const std::string chosen_at_run = two + "FSDP(m, mixed_precision=choose(a, b))\n";
  CHECK(param_type(chosen_at_run).empty());
  CHECK(reduce_type(chosen_at_run) == "\"fp32\"");
  CHECK(param_type(two + "FSDP(m, mixed_precision=b)\n") == "\"fp16\"");
  CHECK(param_type("FSDP(m, mixed_precision=MixedPrecision(param_dtype=args.type))\n").empty());
}

TEST_CASE("accelerate and torchtitan: types of sums") {
  const std::string accelerate = "distributed_type: FSDP\nmixed_precision: bf16\nfsdp_config:\n";
  CHECK(reduce_type(accelerate + "  fsdp_version: 2\n").empty());  // that of the parameters
  CHECK(reduce_type(accelerate + "  fsdp_mixed_precision_policy: {reduce_dtype: float32}\n") == "\"fp32\"");
  CHECK(param_type(accelerate + "  fsdp_mixed_precision_policy: bf16\n") == "\"bf16\"");
  CHECK_THAT(mistake(accelerate + "  fsdp_mixed_precision_policy: {reduce_dtype: int8}\n"),
             ContainsSubstring("\"int8\" is no type of FSDP's mixed precision"));
  CHECK_THAT(mistake(accelerate + "  fsdp_mixed_precision_policy: quick\n"), ContainsSubstring("quick"));
  const std::string titan = "[training]\nlocal_batch_size = 1\n";
  CHECK(reduce_type(titan + "[parallelism]\n") == "\"fp32\"");
  CHECK(reduce_type(titan + "mixed_precision_reduce = \"bfloat16\"\n[parallelism]\n") == "\"bf16\"");
  CHECK(value_of(read(titan + "mixed_precision_reduce = \"bfloat16\"\n[parallelism]\n"
                              "tensor_parallel_degree = 2\n"),
                 "parallel.gradient_bytes") == "2");
  CHECK_THAT(mistake(titan + "mixed_precision_reduce = \"float9\"\n[parallelism]\n"),
             ContainsSubstring("float9"));
}

TEST_CASE("Lightning: a policy of FSDPStrategy") {
  CHECK(reduce_type("t = L.Trainer(devices=4, strategy=FSDPStrategy(mixed_precision=MixedPrecision(\n"
                    "  param_dtype=torch.bfloat16, reduce_dtype=torch.float32)))\n") == "\"fp32\"");
}

}  // namespace fsdp_policy_test

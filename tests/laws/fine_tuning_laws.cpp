// Fine-tuning: what is frozen costs no gradient, what is packed or moved takes no more of the GPU.
#include <string>
#include <vector>

#include "sim/analysis/step/point_predictor.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace fine_tuning_laws {

using namespace foretrain;

namespace {

using Settings = std::vector<std::string>;

constexpr const char* kModels[] = {"gpt2", "llama3_2_1b", "tinyllama_1_1b", "pythia_1_4b"};
constexpr const char* kStrategies[] = {"single", "ddp", "fsdp", "fsdp2", "zero2", "zero3"};

struct Tuned {
  double step_s, gpu_bytes, host_bytes;
};

Tuned with(const std::string& model, const std::string& strategy, const Settings& settings,
           OpenedCatalogs& opened) {
  const int gpus = strategy == "single" ? 1 : 8;
  ScenarioOverrides overrides;
  overrides.model = model, overrides.cluster = "dgx-a100", overrides.strategy = strategy;
  overrides.gpus = {gpus}, overrides.batch = 2;
  overrides.settings = {"model.sequence_length=512", "model.optimizer=\"adamw\""};
  overrides.settings.insert(overrides.settings.end(), settings.begin(), settings.end());
  const Scenario scenario = make_scenario(overrides, opened);
  PointPredictor points(scenario, gpus);
  Decisions unused;
  const PredictionPoint p = points.point(gpus, unused);
  return {p.step_s, static_cast<double>(p.memory.total().count),
          static_cast<double>(p.host_memory.total().count)};
}

ExpandedModel tuned(const std::string& name, const FineTuning& tuning) {
  Model network = read_or_throw(*open_named(CatalogKind::models, name), read_model);
  network.input = {256};
  network.tuning = tuning;
  ExpansionResult result = expand(network);
  for (const ModelFault& fault : result.faults) FAIL(fault.message);
  return std::move(result.model);
}

FineTuning lora(std::int64_t rank) {
  FineTuning tuning;
  tuning.adapter = AdapterKind::lora, tuning.rank = rank, tuning.targets = {"all-linear"};
  return tuning;
}

double product_flops(const ExpandedModel& model) { return model.forward_gemm_flops().at(1); }

}  // namespace

TEST_CASE("law: an adapter's products and parameters vanish with its rank, and leave the frozen network") {
  test::use_source_catalogs();
  for (const char* name : kModels) {
    INFO(name);
    const ExpandedModel whole = tuned(name, {}), one = tuned(name, lora(8)), two = tuned(name, lora(16));
    // Both are straight lines over the rank; so this is what they are at rank 0.
    CHECK(2 * one.parameter_elements() - two.parameter_elements() == 0);
    CHECK(2 * product_flops(one) - product_flops(two) == Approx(product_flops(whole)).epsilon(1e-9));
    CHECK(one.frozen_elements() == whole.parameter_elements());
    CHECK(2 * one.gradient_bytes().count == two.gradient_bytes().count);
  }
}

TEST_CASE("law: with every parameter trainable the gradients are those of full training") {
  test::use_source_catalogs();
  for (const char* name : kModels) {
    INFO(name);
    const ExpandedModel whole = tuned(name, {});
    FineTuning all;
    all.trainable = {"all"};
    const ExpandedModel same = tuned(name, all);
    CHECK(same.gradient_bytes() == whole.gradient_bytes());
    CHECK(same.backward_flops().at(1) == whole.backward_flops().at(1));
    CHECK(same.gradient_ready_order() == whole.gradient_ready_order());
    FineTuning beside = lora(8);
    beside.trainable = {"all"};
    CHECK(tuned(name, beside).gradient_bytes() ==
          Bytes{whole.gradient_bytes().count + tuned(name, lora(8)).gradient_bytes().count});
  }
}

TEST_CASE("law: offloaded activations never take more of the GPU, less of the host or a shorter step") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  const Settings base{"model.weights=\"bf16\"", "model.adapters.rank=8", "model.recompute=true"};
  const auto and_offload = [&](const char* how) {
    Settings settings = base;
    settings.push_back(std::string("model.offload_activations=\"") + how + "\"");
    return settings;
  };
  for (const char* name : {"gpt2", "llama3_2_1b"}) {
    for (const char* strategy : kStrategies) {
      INFO(name << " with " << strategy);
      const Tuned none = with(name, strategy, base, opened);
      for (const char* how : {"checkpoints", "saved_tensors"}) {
        const Tuned moved = with(name, strategy, and_offload(how), opened);
        CHECK(moved.gpu_bytes <= none.gpu_bytes);
        CHECK(moved.host_bytes > none.host_bytes);
        CHECK(moved.step_s >= 0.999 * none.step_s);
      }
    }
  }
}

TEST_CASE("law: packed weights never take more of the GPU, and fp32 beside them never less") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  const auto in = [&](const char* name, const char* strategy, const char* format, const char* upcast) {
    return with(name, strategy,
                {std::string("model.weights=\"") + format + "\"", "model.adapters.rank=8",
                 "model.recompute=true", std::string("model.upcast=\"") + upcast + "\""},
                opened)
        .gpu_bytes;
  };
  for (const char* name : {"llama3_2_1b", "tinyllama_1_1b"}) {
    for (const char* strategy : {"single", "ddp", "fsdp", "zero3"}) {
      INFO(name << " with " << strategy);
      double before = in(name, strategy, "bf16", "none");
      for (const char* format : {"int8", "nf4", "nf4_double"}) {
        const double packed = in(name, strategy, format, "none");
        CHECK(packed <= before);
        before = packed;
      }
      const double norms = in(name, strategy, "nf4_double", "norms"),
                   all = in(name, strategy, "nf4_double", "all");
      CHECK(norms >= before);
      CHECK(all >= norms);
    }
  }
}

TEST_CASE("law: more virtual tokens never take less memory or a shorter step") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  for (const char* kind : {"prompt", "p_tuning", "prefix"}) {
    for (const char* strategy : {"single", "ddp", "fsdp"}) {
      INFO(kind << " with " << strategy);
      Tuned before{};
      for (const char* tokens : {"1", "16", "128"}) {
        const Tuned after =
            with("llama3_2_1b", strategy,
                 {"model.weights=\"bf16\"", std::string("model.adapters.kind=\"") + kind + "\"",
                  std::string("model.adapters.virtual_tokens=") + tokens},
                 opened);
        CHECK(after.gpu_bytes >= before.gpu_bytes);
        CHECK(after.step_s >= 0.999 * before.step_s);
        before = after;
      }
    }
  }
}

}  // namespace fine_tuning_laws

// Weights in fp32 beside packed ones: what they take, and what follows them.
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/fine_tuning/fine_tuning.hpp"
#include "sim/workload/tape/recompute.hpp"
#include "tests/support/catch.hpp"

namespace upcast_test {

using namespace foretrain;

namespace {

ExpandedModel packed(const std::string& name, Upcast upcast, FusedKernels fused = {}) {
  Model network = read_or_throw(*open_named(CatalogKind::models, name), read_model);
  network.input = {1024};
  network.tuning.adapter = AdapterKind::lora, network.tuning.rank = 16;
  network.tuning.targets = {"q_proj", "k_proj", "v_proj", "o_proj"};
  network.tuning.weights = WeightFormat::nf4_double;
  network.tuning.upcast = upcast, network.tuning.fused = fused;
  network.tuning.computes_in_half = true;
  ExpansionResult result = expand(network);
  for (const ModelFault& fault : result.faults) FAIL(fault.message);
  return std::move(result.model);
}

double peak(const ExpandedModel& model) {
  return peak_bytes(model.lifetimes, 1, ActivationWidth::half, GradientTensors::kept);
}

}  // namespace

TEST_CASE("prepare_model_for_kbit_training adds two bytes for every weight that is not packed") {
  // Embedding and head of 32000 x 4096, two norms a block and one at the end.
  const std::int64_t rest = 2 * 32'000LL * 4096 + 65 * 4096;
  const std::int64_t plain = packed("mistral_7b", Upcast::none).frozen_bytes();
  CHECK(packed("mistral_7b", Upcast::all).frozen_bytes() == plain + 2 * rest);
  CHECK(packed("mistral_7b", Upcast::norms).frozen_bytes() == plain + 2 * 65 * 4096);
}

TEST_CASE("what follows an fp32 weight has 32 bits: the inputs of blocks and of the feed-forward part") {
  const ExpandedModel plain = packed("mistral_7b", Upcast::none), wide = packed("mistral_7b", Upcast::all);
  const double tokens = 1024, inputs = 32 * 4096 * 2 * tokens;
  // With every block recomputed, each keeps its input, two bytes wider; the rest is one block's.
  const double more = peak(with_recomputed_blocks(wide)) - peak(with_recomputed_blocks(plain));
  CHECK(more > inputs);
  CHECK(more < 2 * inputs + 2 * 32'000 * 4096.0);
  // Without it the gate, its activation and the other branch of each block are wider, too.
  const double feed_forward = 32 * 3 * 14'336.0 * 2 * tokens;
  CHECK(peak(wide) - peak(plain) > inputs + feed_forward);
  const auto share = [](const ExpandedModel& model) {
    double wide_bytes = 0;
    for (const Operator& op : model.forward)
      wide_bytes += op.width == ElementWidth::full ? op.bytes.at(1) : 0;
    return wide_bytes;
  };
  CHECK(share(wide) > share(plain));
}

TEST_CASE("a fused norm returns the width of its input, so that fp32 norms alone widen nothing") {
  const FusedKernels liger{FusedKernel::rms_norm, FusedKernel::swiglu, FusedKernel::rope};
  const double none = peak(packed("mistral_7b", Upcast::none, liger)),
               norms = peak(packed("mistral_7b", Upcast::norms, liger)),
               all = peak(packed("mistral_7b", Upcast::all, liger));
  CHECK(norms == Approx(none).epsilon(0.02));
  CHECK(all > 1.3 * none);
}

TEST_CASE("a network says that its weights were upcast") {
  FineTuning tuning;
  tuning.weights = WeightFormat::nf4, tuning.upcast = Upcast::norms;
  CHECK(named_with("llama3_8b", tuning) == "llama3_8b (weights in nf4, norms in fp32)");
}

}  // namespace upcast_test

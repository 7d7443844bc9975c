// A layer is attention and a feed-forward part, each behind a norm and added to what came in.
//
// A layer is a list of steps: products, memory-bound kernels and exchanges, for one rank, in the order of the
// framework. Under tensor parallelism products become narrower and exchanges appear between them; under
// context parallelism attention goes in parts.
#include "sim/workload/transformer/layer_program.hpp"

#include <algorithm>

#include "sim/workload/device/tensor_cores.hpp"
#include "sim/workload/transformer/layer_writer.hpp"

namespace foretrain {

namespace {

constexpr int kHeadMatrices = 3;  ///< queries, keys, values

struct LayerSizes {
  double norm = 0, query = 0, key = 0, inner = 0;  ///< elements of one rank
  std::vector<LinearSize> into_heads;              ///< one after the other
  LinearSize out_of_heads, up, down;
};

LayerSizes sizes_of(const TransformerShape& shape, const LayerSlice& slice) {
  const std::int64_t rows = slice.tokens(), t = slice.tensor, d = shape.head_dim;
  const std::int64_t heads = std::max<std::int64_t>(1, shape.heads / t);
  const std::int64_t groups = std::max<std::int64_t>(1, shape.kv_heads / t);
  LayerSizes sizes;
  sizes.norm = static_cast<double>(slice.norm_tokens() * shape.hidden);
  sizes.query = static_cast<double>(rows * heads * d), sizes.key = static_cast<double>(rows * groups * d);
  if (const auto& latent = shape.latent) {
    const std::int64_t ranks = latent->query_rank + latent->key_value_rank + latent->rope_dim;
    sizes.into_heads = {{slice.norm_tokens(), shape.hidden, ranks},
                        {rows, latent->query_rank > 0 ? latent->query_rank : shape.hidden, heads * d},
                        {rows, latent->key_value_rank, heads * (latent->plain_dim + latent->value_dim)}};
    sizes.out_of_heads = {rows, heads * latent->value_dim, shape.hidden};
  } else {
    sizes.into_heads = {{rows, shape.hidden, (heads + 2 * groups) * d}};
    sizes.out_of_heads = {rows, heads * d, shape.hidden};
  }
  const std::int64_t inner = (shape.inner + t - 1) / t;
  sizes.inner = static_cast<double>(rows * inner);
  sizes.up = {rows, shape.hidden, (shape.gated ? 2 : 1) * inner}, sizes.down = {rows, inner, shape.hidden};
  return sizes;
}

class LayerSteps {
 public:
  LayerSteps(const TransformerShape& shape, const LayerSlice& slice, bool with_experts,
             const LayerKernels& kernels)
      : shape_(shape),
        slice_(slice),
        with_experts_(with_experts),
        kernels_(kernels),
        writer_(slice, kernels),
        sizes_(sizes_of(shape, slice)) {}

  std::vector<LayerStep> forward() const;
  std::vector<LayerStep> backward() const;
  /// Forward without what Recompute::save_qkv keeps and what backward does not look at.
  std::vector<LayerStep> needed_again() const;
  double saved_bytes() const;
  /// Of Recompute::save_qkv.
  double kept_bytes() const { return 2 * (sizes_.norm + sizes_.query + 2 * sizes_.key); }

 private:
  void attention_forward(std::vector<LayerStep>& steps) const;
  void attention_backward(std::vector<LayerStep>& steps) const;
  LayerStep norm() const {
    return LayerWriter::pass(sizes_.norm, kernels_.norm_passes, kernels_.norm_launches);
  }
  LayerStep norm_backward() const {
    return LayerWriter::pass(sizes_.norm, kernels_.norm_backward_passes, kernels_.norm_backward_launches);
  }
  LayerStep added() const { return LayerWriter::pass(sizes_.norm, 3, 1); }
  void around_core(std::vector<LayerStep>& steps) const;

  const TransformerShape& shape_;
  const LayerSlice& slice_;
  bool with_experts_;
  const LayerKernels& kernels_;
  LayerWriter writer_;
  LayerSizes sizes_;
};

/// Rotary positions, and the copies that bring heads where the kernel wants them.
void LayerSteps::around_core(std::vector<LayerStep>& steps) const {
  const double turned = sizes_.query + sizes_.key, all = sizes_.query + 2 * sizes_.key;
  if (kernels_.rotary_launches > 0)
    steps.push_back(LayerWriter::pass(turned, kernels_.rotary_passes, kernels_.rotary_launches));
  if (kernels_.attention_copy_launches > 0)
    steps.push_back(LayerWriter::pass(all, kernels_.attention_copies, kernels_.attention_copy_launches));
}

void LayerSteps::attention_forward(std::vector<LayerStep>& steps) const {
  if (kernels_.length_launches > 0) steps.push_back(LayerStep::moved(0, kernels_.length_launches));
  if (shape_.latent) writer_.plain_forward(steps, sizes_.into_heads.front());
  for (std::size_t i = shape_.latent ? 1 : 0; i < sizes_.into_heads.size(); ++i)
    writer_.column_forward(steps, sizes_.into_heads[i]);
  around_core(steps);
  write_attention_core(writer_, shape_, false, steps);
  writer_.row_forward(steps, sizes_.out_of_heads);
}

std::vector<LayerStep> LayerSteps::forward() const {
  std::vector<LayerStep> steps{norm()};
  attention_forward(steps);
  steps.push_back(added()), steps.push_back(norm());
  if (with_experts_) {
    write_experts_forward(writer_, shape_, steps);
  } else {
    writer_.column_forward(steps, sizes_.up);
    const double passes = shape_.gated ? kernels_.gate_passes : 2;
    steps.push_back(LayerWriter::pass(sizes_.inner, passes, kernels_.gate_launches));
    writer_.row_forward(steps, sizes_.down);
  }
  steps.push_back(added());
  return steps;
}

std::vector<LayerStep> LayerSteps::needed_again() const {
  std::vector<LayerStep> steps{norm()};
  around_core(steps);
  write_attention_core(writer_, shape_, false, steps);
  writer_.row_forward(steps, sizes_.out_of_heads);
  steps.push_back(added()), steps.push_back(norm());
  if (with_experts_) {
    write_experts_forward(writer_, shape_, steps);
    return steps;
  }
  writer_.column_forward(steps, sizes_.up);
  steps.push_back(
      LayerWriter::pass(sizes_.inner, shape_.gated ? kernels_.gate_passes : 2, kernels_.gate_launches));
  return steps;
}

void LayerSteps::attention_backward(std::vector<LayerStep>& steps) const {
  writer_.row_backward(steps, sizes_.out_of_heads);
  write_attention_core(writer_, shape_, true, steps);
  around_core(steps);
  for (std::size_t i = sizes_.into_heads.size(); i-- > (shape_.latent ? 1U : 0U);)
    writer_.column_backward(steps, sizes_.into_heads[i], shape_.latent ? 1 : kHeadMatrices);
  if (shape_.latent) writer_.plain_backward(steps, sizes_.into_heads.front());
}

std::vector<LayerStep> LayerSteps::backward() const {
  std::vector<LayerStep> steps;
  if (with_experts_) {
    write_experts_backward(writer_, shape_, steps);
  } else {
    writer_.row_backward(steps, sizes_.down);
    const double passes = shape_.gated ? kernels_.gate_backward_passes : 3;
    steps.push_back(LayerWriter::pass(sizes_.inner, passes, kernels_.gate_backward_launches));
    writer_.column_backward(steps, sizes_.up, shape_.gated ? 2 : 1);
  }
  steps.push_back(norm_backward()), steps.push_back(added());
  attention_backward(steps);
  steps.push_back(norm_backward()), steps.push_back(added());
  return steps;
}

/// Of an input kept for the product of weights' gradients.
double kept_operand_bytes(KernelPrecision precision) {
  if (precision == KernelPrecision::fp4) return kFp4Bytes;
  return precision == KernelPrecision::fp8 ? 1 : 2;
}

/// Inputs of both norms and what they give, queries, keys, values and the result of attention, and what lies
/// between the products of the feed-forward part. Inputs of products in 8 bit are kept so.
double LayerSteps::saved_bytes() const {
  const double operand = kept_operand_bytes(slice_.precision);
  const double heads =
      2 * sizes_.query + 2 * sizes_.key + kernels_.saved_attention_copies * (sizes_.query + 2 * sizes_.key);
  // What backward does not gather again is kept whole.
  const double inputs =
      kernels_.regathers_inputs ? sizes_.norm : static_cast<double>(slice_.tokens() * shape_.hidden);
  const double attention = 2 * sizes_.norm + operand * inputs + 2 * heads + saved_scores(writer_, shape_) +
                           kept_by_context(writer_, shape_);
  const double into_feed = 2 * sizes_.norm + operand * inputs;
  if (with_experts_) return attention + into_feed + saved_by_experts(writer_, shape_);
  const double inner = shape_.gated ? kernels_.saved_inner : kernels_.saved_inner - 1;
  return attention + into_feed + (2 * (inner - 1) + operand) * sizes_.inner;
}

}  // namespace

LayerProgram layer_program(const TransformerShape& shape, const LayerSlice& slice, bool with_experts,
                           const LayerKernels& kernels) {
  const LayerSteps layer(shape, slice, with_experts, kernels);
  LayerProgram program{layer.forward(), layer.backward(), {}, layer.saved_bytes(), 0};
  const double input = 2.0 * static_cast<double>(slice.norm_tokens() * shape.hidden);
  if (slice.recompute == Recompute::full) {
    program.again = program.forward;
    program.transient_bytes = program.saved_bytes, program.saved_bytes = input;
  } else if (slice.recompute == Recompute::save_qkv) {
    program.again = layer.needed_again();
    program.transient_bytes = program.saved_bytes, program.saved_bytes = layer.kept_bytes();
  } else if (slice.recompute == Recompute::selective) {
    program.transient_bytes = saved_scores(LayerWriter(slice, kernels), shape);
    program.saved_bytes -= program.transient_bytes;
    write_attention_core(LayerWriter(slice, kernels), shape, false, program.again);
  }
  return program;
}

double flops_of(const std::vector<LayerStep>& steps) {
  double sum = 0;
  for (const LayerStep& step : steps) {
    if (step.kind == LayerStep::Kind::product)
      sum += 2.0 * static_cast<double>(step.m) * static_cast<double>(step.n) * static_cast<double>(step.k) *
             static_cast<double>(step.count);
    if (step.kind == LayerStep::Kind::attention) sum += flash_attention_flops(step.attention);
  }
  return sum;
}

}  // namespace foretrain

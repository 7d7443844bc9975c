// A transformer layer as a list of steps: attention and a feed-forward part, each behind a norm and added to
// its input.
//
// The steps are products, memory-bound kernels and exchanges of one rank, in the order of the framework.
// Under tensor parallelism products become narrower and exchanges appear between them. Under context
// parallelism attention is done in parts. Recomputation adds the steps that backward repeats.
#include "sim/workload/transformer/layer_program.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/ascii.hpp"
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

/// Returns the sizes of one rank. Heads and inner width are divided among tensor ranks, with at least one
/// head each.
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

/// The steps of one layer on one rank, in all variants of recomputation.
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
  /// Returns forward without what Recompute::save_qkv keeps and what backward does not read.
  std::vector<LayerStep> needed_again() const;
  double saved_bytes() const;
  /// Recomputation by operator: forward without every second product and the attention core, and the kept
  /// bytes, which are those products' results, the core's and the layer's input.
  std::vector<LayerStep> again_by_operator() const;
  double saved_by_operator() const;
  /// A module of Megatron-LM: the bytes that its output took, and the steps that make it again.
  double bytes_of(LayerModule module) const;
  void run_again(LayerModule module, std::vector<LayerStep>& steps) const;
  /// Returns the bytes that Recompute::save_qkv keeps.
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
  double feed_bytes() const;

  const TransformerShape& shape_;
  const LayerSlice& slice_;
  bool with_experts_;
  const LayerKernels& kernels_;
  LayerWriter writer_;
  LayerSizes sizes_;
};

/// Writes rotary positions, and the copies that bring heads into the layout of the attention kernel.
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
  // Latent attention's first product is not cut over tensor ranks, hence without exchanges.
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

/// Sums the kept tensors: inputs and results of both norms, queries, keys, values, the result of attention,
/// and what lies between the products of the feed-forward part. Inputs of products in 8 bit are kept in 8
/// bit.
double LayerSteps::saved_bytes() const {
  const double operand = kept_operand_bytes(slice_.precision);
  const double heads =
      2 * sizes_.query + 2 * sizes_.key + kernels_.saved_attention_copies * (sizes_.query + 2 * sizes_.key);
  // An input that backward does not gather again is kept whole.
  const double inputs =
      kernels_.regathers_inputs ? sizes_.norm : static_cast<double>(slice_.tokens() * shape_.hidden);
  const double attention = 2 * sizes_.norm + operand * inputs + 2 * heads + saved_scores(writer_, shape_) +
                           kept_by_context(writer_, shape_);
  const double into_feed = 2 * sizes_.norm + operand * inputs;
  if (with_experts_) return attention + into_feed + saved_by_experts(writer_, shape_).all;
  return attention + into_feed + feed_bytes();
}

/// Returns the bytes kept between the products of a dense feed-forward part.
double LayerSteps::feed_bytes() const {
  const double inner = shape_.gated ? kernels_.saved_inner : kernels_.saved_inner - 1;
  return (2 * (inner - 1) + kept_operand_bytes(slice_.precision)) * sizes_.inner;
}

/// torchtitan keeps the results of products 1, 3, 5, … of a layer (distributed/activation_checkpoint.py):
/// queries, values, gate and the last one. Keys, attention's output product and the other half of the gate
/// run again. Recorded runs of 2025 repeat every exchange.
std::vector<LayerStep> LayerSteps::again_by_operator() const {
  std::vector<LayerStep> steps{norm()};
  if (shape_.latent) {
    for (std::size_t i = 1; i < sizes_.into_heads.size(); ++i)
      writer_.column_forward(steps, sizes_.into_heads[i]);
  } else {
    LinearSize keys = sizes_.into_heads.front();
    keys.out = static_cast<std::int64_t>(sizes_.key) / std::max<std::int64_t>(1, keys.rows);
    writer_.column_forward(steps, keys);
  }
  around_core(steps);
  writer_.row_forward(steps, sizes_.out_of_heads);
  steps.push_back(added()), steps.push_back(norm());
  if (with_experts_) {
    write_experts_forward(writer_, shape_, steps);
    return steps;
  }
  std::vector<LayerStep> feed;
  LinearSize other_half = sizes_.up;
  if (shape_.gated) other_half.out /= 2;
  writer_.column_forward(feed, other_half);
  feed.push_back(
      LayerWriter::pass(sizes_.inner, shape_.gated ? kernels_.gate_passes : 2, kernels_.gate_launches));
  const std::size_t before = feed.size();
  writer_.row_forward(feed, sizes_.down);
  const auto is_product = [](const LayerStep& step) { return step.kind == LayerStep::Kind::product; };
  if (shape_.gated)  // the last product is an odd one, and kept
    feed.erase(std::remove_if(feed.begin() + static_cast<std::ptrdiff_t>(before), feed.end(), is_product),
               feed.end());
  else  // the first one is
    feed.erase(std::remove_if(feed.begin(), feed.begin() + static_cast<std::ptrdiff_t>(before), is_product),
               feed.end());
  for (LayerStep& step : feed) step.waits_for = -1, step.behind = false;
  steps.insert(steps.end(), feed.begin(), feed.end());
  return steps;
}

double LayerSteps::saved_by_operator() const {
  const auto whole = static_cast<double>(slice_.tokens() * shape_.hidden);
  double kept = 2 * sizes_.norm + 2 * sizes_.query;  // the layer's input, and what attention gives
  if (shape_.latent)
    kept +=
        2 * static_cast<double>(sizes_.into_heads.front().rows * sizes_.into_heads.front().out) + 2 * whole;
  else
    kept += 2 * (sizes_.query + sizes_.key);
  if (with_experts_) return kept + saved_by_experts(writer_, shape_).shared / kernels_.saved_inner;
  return kept + 2 * sizes_.inner + (shape_.gated ? 2 * whole : 0);
}

double LayerSteps::bytes_of(LayerModule module) const {
  const double operand = kept_operand_bytes(slice_.precision);
  switch (module) {
    case LayerModule::core_attn:
      return saved_scores(writer_, shape_);
    case LayerModule::layernorm:
      return 2 * operand * sizes_.norm;
    case LayerModule::mla_up_proj:
      return shape_.latent ? 2 * (sizes_.query + 2 * sizes_.key) : 0;
    case LayerModule::moe_act:
      return with_experts_ ? saved_by_experts(writer_, shape_).activated : 0;
    case LayerModule::mlp:
      return with_experts_ ? 0 : feed_bytes();
    case LayerModule::moe:
      return with_experts_ ? saved_by_experts(writer_, shape_).all : 0;
    case LayerModule::shared_experts:
      return with_experts_ ? saved_by_experts(writer_, shape_).shared : 0;
  }
  return 0;
}

void LayerSteps::run_again(LayerModule module, std::vector<LayerStep>& steps) const {
  switch (module) {
    case LayerModule::core_attn:
      return write_attention_core(writer_, shape_, false, steps);
    case LayerModule::layernorm:
      steps.push_back(norm()), steps.push_back(norm());
      return;
    case LayerModule::mla_up_proj:
      for (std::size_t i = 1; shape_.latent && i < sizes_.into_heads.size(); ++i)
        writer_.plain_forward(steps, sizes_.into_heads[i]);
      if (shape_.latent) around_core(steps);
      return;
    case LayerModule::moe_act:
      if (with_experts_)
        steps.push_back(LayerWriter::pass(
            saved_by_experts(writer_, shape_).activated / kept_operand_bytes(slice_.precision),
            kernels_.gate_passes, kernels_.gate_launches));
      return;
    case LayerModule::mlp:
      if (with_experts_) return;
      writer_.plain_forward(steps, sizes_.up);
      steps.push_back(
          LayerWriter::pass(sizes_.inner, shape_.gated ? kernels_.gate_passes : 2, kernels_.gate_launches));
      return;
    case LayerModule::moe:
      if (with_experts_) write_experts_forward(writer_, shape_, steps);
      return;
    case LayerModule::shared_experts:
      if (with_experts_) write_shared_experts(writer_, shape_, false, steps);
      return;
  }
}

/// Removes modules that another one of the set contains, so that their bytes count once.
LayerModules without_parts(LayerModules set) {
  if (!has_module(set, LayerModule::moe)) return set;
  constexpr unsigned kParts = 1U << static_cast<unsigned>(LayerModule::moe_act) |
                              1U << static_cast<unsigned>(LayerModule::shared_experts);
  return static_cast<LayerModules>(set & ~kParts);
}

constexpr std::pair<std::string_view, LayerModule> kLayerModules[] = {
    {"core_attn", LayerModule::core_attn},
    {"layernorm", LayerModule::layernorm},
    {"mla_up_proj", LayerModule::mla_up_proj},
    {"moe_act", LayerModule::moe_act},
    {"mlp", LayerModule::mlp},
    {"moe", LayerModule::moe},
    {"shared_experts", LayerModule::shared_experts}};

/// Moves the bytes of the given modules from kept to transient, and adds the steps that make them again.
void recompute_modules(const LayerSteps& layer, LayerModules set, LayerProgram& program) {
  double freed = 0;
  for (const auto& [name, module] : kLayerModules) {
    if (!has_module(without_parts(set), module)) continue;
    freed += layer.bytes_of(module);
    layer.run_again(module, program.again);
  }
  program.saved_bytes -= freed, program.transient_bytes = freed;
}

}  // namespace

double kept_operand_bytes(KernelPrecision precision) {
  if (precision == KernelPrecision::fp4) return kFp4Bytes;
  return precision == KernelPrecision::fp8 ? 1 : 2;
}

std::optional<LayerModules> find_layer_modules(std::string_view names) {
  unsigned set = 0;
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    const std::string_view name = trimmed(names.substr(0, comma));
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
    const auto* const row =
        std::ranges::find(kLayerModules, name, &std::pair<std::string_view, LayerModule>::first);
    if (row == std::end(kLayerModules)) return std::nullopt;
    set |= 1U << static_cast<unsigned>(row->second);
  }
  return static_cast<LayerModules>(set);
}

std::string names_of_layer_modules(LayerModules set) {
  std::string names;
  for (const auto& [name, module] : kLayerModules)
    if (has_module(set, module)) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

// The bytes that recomputation frees are transient: they exist while the layer's own backward runs.
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
  } else if (slice.recompute == Recompute::selective && slice.recompute_modules == 0 &&
             kernels.selects_by_operator) {
    program.again = layer.again_by_operator();
    program.transient_bytes = program.saved_bytes, program.saved_bytes = layer.saved_by_operator();
  } else if (slice.recompute == Recompute::selective) {
    constexpr LayerModules kCore = 1U << static_cast<unsigned>(LayerModule::core_attn);
    recompute_modules(layer, slice.recompute_modules == 0 ? kCore : slice.recompute_modules, program);
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

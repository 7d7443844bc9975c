// Attention between its projections: one fused kernel or, under context parallelism, one kernel for each part
// of the sequence that passes by.
//
// Every context rank holds two pieces of a causal sequence, one from its front and one from its back. All
// ranks then have the same half of the scores: their own part causally, and half of the keys of every other
// part.
#include <algorithm>

#include "sim/workload/transformer/layer_writer.hpp"

namespace foretrain {

namespace {

/// The sizes of attention on one rank, in one direction. References must outlive it.
struct Core {
  const LayerWriter& writer;
  const TransformerShape& shape;
  bool backward;

  const LayerSlice& slice() const { return writer.slice(); }
  AttentionKernel which() const { return slice().attention.value_or(writer.kernels().attention); }
  /// True where scores lie in memory. Context ranks always exchange parts of fused kernels.
  bool is_unfused() const { return which() == AttentionKernel::unfused && slice().context == 1; }
  std::int64_t heads() const { return std::max(1, shape.heads / slice().tensor); }
  std::int64_t kv_heads() const { return std::max(1, shape.kv_heads / slice().tensor); }
  std::int64_t part() const { return slice().sequence / slice().context; }
  /// Returns the bytes of keys and values of one rank's part.
  double key_value_bytes() const {
    const auto value = static_cast<double>(shape.latent ? shape.latent->value_dim : shape.head_dim);
    return 2.0 * static_cast<double>(slice().tokens() * kv_heads()) *
           (static_cast<double>(shape.head_dim) + value);
  }
  /// Returns one fused kernel over these queries and keys; `ranks_of_heads` ranks share the heads (Ulysses).
  LayerStep kernel(std::int64_t queries, std::int64_t keys, bool causal,
                   std::int64_t ranks_of_heads = 1) const {
    LayerStep step;
    step.kind = LayerStep::Kind::attention;
    // Latent attention has heads of two widths, for scores and for values; their mean gives the same FLOPs.
    const std::int64_t width = shape.latent ? (shape.head_dim + shape.latent->value_dim) / 2 : shape.head_dim;
    step.attention = {.batch = slice().micro_batch,
                      .query_length = queries,
                      .key_length = keys,
                      .heads = std::max<std::int64_t>(1, heads() / ranks_of_heads),
                      .kv_heads = std::max<std::int64_t>(1, kv_heads() / ranks_of_heads),
                      .head_dim = width,
                      .causal = causal,
                      .backward = backward,
                      .kernel = which()};
    step.launches = backward ? 3 : 1;  // the sum of gradient times result, the kernel, a conversion
    return step;
  }
};

/// Passes of a softmax that scales and masks on its way, and of dropout with a mask of one byte, over scores
/// of 16 bits. Backward keeps the softmax's result, dropout's result and the mask: 5 bytes a score
/// (Korthikanti et al. 2022).
constexpr double kSoftmaxPasses = 4.5, kSoftmaxBackwardPasses = 5.5, kScoreBytes = 5;
constexpr int kSoftmaxLaunches = 2;

/// Writes unfused attention: products with all scores in memory between them. The mask saves nothing.
void write_unfused(const Core& core, std::vector<LayerStep>& steps) {
  const std::int64_t count = core.slice().micro_batch * core.heads(), width = core.shape.head_dim;
  const std::int64_t length = core.slice().sequence;
  const auto scores = static_cast<double>(count * length * length);
  const auto product = [&](std::int64_t n, std::int64_t k) {
    steps.push_back(LayerStep::product_of(length, n, k, count));
    steps.back().is_half = true;
  };
  // Backward: gradients of the weights and of the values, then those of queries and keys around the softmax.
  if (core.backward) product(length, width), product(width, length);
  if (!core.backward) product(length, width);
  steps.push_back(
      LayerWriter::pass(scores, core.backward ? kSoftmaxBackwardPasses : kSoftmaxPasses, kSoftmaxLaunches));
  product(width, length);
  if (core.backward) product(width, length);
}

/// Writes the backward ring of PyTorch. Gradients of keys and values pass on in fp32, in a message of their
/// own behind each kernel, and come back with the last one.
void write_torch_ring_backward(const Core& core, std::vector<LayerStep>& steps) {
  const int ranks = core.slice().context;
  constexpr double kFp32OverHalf = 2;
  int parts = -1;
  for (int i = 0; i < ranks; ++i) {
    LayerStep kernel = core.kernel(core.part(), i > 0 && core.shape.causal ? core.part() / 2 : core.part(),
                                   i == 0 && core.shape.causal);
    kernel.waits_for = parts;
    if (i + 1 < ranks) {
      parts = static_cast<int>(steps.size());
      steps.push_back(
          LayerStep::exchange_of(ParallelAxis::context, Exchange::ring_pass, core.key_value_bytes()));
      steps.back().behind = true;
    }
    steps.push_back(kernel);
    steps.push_back(LayerStep::exchange_of(ParallelAxis::context, Exchange::ring_pass,
                                           kFp32OverHalf * core.key_value_bytes()));
    steps.back().behind = i + 1 < ranks;
  }
}

/// Writes ring attention: parts pass from rank to rank while the kernel of the previous part runs. Backward
/// sends their gradients along with them.
void write_ring(const Core& core, std::vector<LayerStep>& steps) {
  if (core.backward && core.writer.kernels().context != ContextHabit::joined)
    return write_torch_ring_backward(core, steps);
  const int ranks = core.slice().context;
  const bool causal = core.shape.causal;
  for (int i = 0; i < ranks; ++i) {
    LayerStep kernel =
        core.kernel(core.part(), i > 0 && causal ? core.part() / 2 : core.part(), i == 0 && causal);
    // The kernel waits for the exchange that brought its part: the step before the previous kernel.
    if (i > 0) kernel.waits_for = static_cast<int>(steps.size()) - 2;
    // The last kernel of backward passes on too: the gradients return to the rank that owns the part.
    const bool passes_on = i + 1 < ranks || core.backward;
    if (passes_on) {
      steps.push_back(LayerStep::exchange_of(ParallelAxis::context, Exchange::ring_pass,
                                             core.key_value_bytes() * (core.backward ? 2 : 1)));
      steps.back().behind = true;
      if (i > 0) kernel.waits_for = static_cast<int>(steps.size()) - 3;
    }
    steps.push_back(kernel);
  }
  if (core.backward) {  // keys' and values' gradients have to be back
    LayerStep back = LayerStep::moved(0, 0);
    back.waits_for = static_cast<int>(steps.size()) - 2;
    steps.push_back(back);
  } else {  // results of the parts are joined by their sums of exponentials
    const double elements = static_cast<double>(core.slice().tokens() * core.heads() * core.shape.head_dim);
    steps.push_back(LayerWriter::pass(elements, 3.0 * (ranks - 1), ranks - 1));
  }
}

/// Writes attention over gathered keys and values, and the exchanges of their gradients in backward.
void write_gathered(const Core& core, std::vector<LayerStep>& steps) {
  const double bytes = core.key_value_bytes() * core.slice().context;
  // torchtitan keeps what it gathered in forward; the others gather again in backward.
  const ContextHabit habit = core.writer.kernels().context;
  const int messages = habit == ContextHabit::apart ? 2 : 1;
  if (!core.backward || habit != ContextHabit::apart) {
    for (int i = 0; i < messages; ++i)
      core.writer.exchange(steps, ParallelAxis::context, Exchange::all_gather, bytes / messages);
  }
  const std::int64_t all = core.slice().sequence;
  // The ranks have equal work: queries of two pieces see half of all keys under a causal mask.
  steps.push_back(core.kernel(core.part(), core.shape.causal ? all / 2 : all, false));
  if (!core.backward) return;
  constexpr double kFp32OverHalf = 2;
  for (int i = 0; habit == ContextHabit::torch && i < core.slice().context; ++i)
    core.writer.exchange(steps, ParallelAxis::context, Exchange::ring_pass,
                         kFp32OverHalf * core.key_value_bytes());
  for (int i = 0; habit != ContextHabit::torch && i < messages; ++i)
    core.writer.exchange(steps, ParallelAxis::context, Exchange::reduce_scatter, bytes / messages);
}

/// Writes the exchange of Ulysses. Each rank changes from a part of the sequence with all heads to the whole
/// sequence with a part of the heads, and back.
void write_ulysses(const Core& core, std::vector<LayerStep>& steps) {
  const double width = static_cast<double>(core.heads() * core.shape.head_dim);
  // Forward sends queries, keys and values and brings the result back; backward does the reverse.
  const double rows = 2.0 * static_cast<double>(core.slice().tokens()) * width;
  const double in = rows + core.key_value_bytes();
  core.writer.exchange(steps, ParallelAxis::context, Exchange::all_to_all, core.backward ? rows : in);
  steps.push_back(
      core.kernel(core.slice().sequence, core.slice().sequence, core.shape.causal, core.slice().context));
  core.writer.exchange(steps, ParallelAxis::context, Exchange::all_to_all, core.backward ? in : rows);
}

}  // namespace

// Gathered parts are kept where backward does not gather them again.
double kept_by_context(const LayerWriter& writer, const TransformerShape& shape) {
  const LayerSlice& slice = writer.slice();
  const bool keeps = writer.kernels().context == ContextHabit::apart && slice.context > 1 &&
                     slice.context_exchange == ContextExchange::all_gather;
  return keeps ? Core{writer, shape, false}.key_value_bytes() * (slice.context - 1) : 0;
}

double saved_scores(const LayerWriter& writer, const TransformerShape& shape) {
  const Core core{writer, shape, false};
  if (!core.is_unfused()) return 0;
  const std::int64_t length = writer.slice().sequence;
  return kScoreBytes * static_cast<double>(writer.slice().micro_batch * core.heads() * length * length);
}

void write_attention_core(const LayerWriter& writer, const TransformerShape& shape, bool backward,
                          std::vector<LayerStep>& steps) {
  const Core core{writer, shape, backward};
  if (core.is_unfused()) return write_unfused(core, steps);
  if (writer.slice().context == 1) {
    steps.push_back(core.kernel(writer.slice().sequence, writer.slice().sequence, shape.causal));
    return;
  }
  // Several context ranks share the sequence in one of three ways.
  switch (writer.slice().context_exchange) {
    case ContextExchange::ring:
      return write_ring(core, steps);
    case ContextExchange::all_gather:
      return write_gathered(core, steps);
    case ContextExchange::ulysses:
      return write_ulysses(core, steps);
  }
}

}  // namespace foretrain

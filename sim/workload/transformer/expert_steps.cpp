// Feed-forward parts with experts: a router, the exchange of tokens to the ranks of their experts, one
// grouped product for all experts of a rank, and the exchange back.
#include <algorithm>
#include <cmath>

#include "sim/workload/transformer/layer_writer.hpp"

namespace foretrain {

namespace {

/// Kernels of the router over tokens x experts: softmax, top-k, counts and probabilities. They are small.
constexpr int kRouterLaunches = 8;
constexpr double kRouterPasses = 12;
/// GPUs of a node, for DeepEP: it sends one copy over the network for each node instead of one for each
/// expert.
constexpr int kGpusOfNode = 8;

/// Bytes of one expert's number of tokens.
constexpr double kCountBytes = 8;

/// Sizes of the experts of one rank.
struct Sizes {
  double sent = 0;         ///< rows that a rank gives away: tokens x top_k, or as many as capacity has
  std::int64_t local = 1;  ///< experts of a rank
  /// Products of all local experts.
  LinearSize up, down;
  double row_bytes = 0;
};

/// Returns the sizes of one rank. Tokens are counted after sequence parallelism has divided them.
Sizes sizes_of(const LayerWriter& writer, const TransformerShape& shape) {
  const ExpertLayers& own = *shape.experts;
  const LayerSlice& slice = writer.slice();
  Sizes sizes;
  sizes.sent = static_cast<double>(slice.norm_tokens() * own.top_k);
  if (slice.capacity_factor > 0) sizes.sent *= slice.capacity_factor;
  sizes.local = std::max(1, own.experts / slice.expert);
  // A capacity limits every expert, so the busiest rank has no more than the others.
  const double busiest = slice.capacity_factor > 0 ? 1 : slice.imbalance;
  // The busiest rank decides the time of all. Ranks that share experts by tensor parallelism get each other's
  // rows.
  const double received = sizes.sent * busiest * slice.expert_tensor;
  const auto rows = static_cast<std::int64_t>(std::ceil(received / static_cast<double>(sizes.local)));
  const std::int64_t inner = own.width / slice.expert_tensor;
  sizes.up = {rows, shape.hidden, (shape.gated ? 2 : 1) * inner, sizes.local};
  sizes.down = {rows, inner, shape.hidden, sizes.local};
  sizes.row_bytes = 2 * static_cast<double>(shape.hidden);
  return sizes;
}

/// Returns the bytes of a dispatch. DeepEP sends a row once to each node, from where NVLink spreads it; the
/// expected number of nodes follows from top_k independent choices.
double dispatched_bytes(const LayerWriter& writer, const TransformerShape& shape, const Sizes& sizes) {
  const double all = sizes.sent * sizes.row_bytes;
  if (writer.slice().dispatch != TokenDispatch::deep_ep || writer.slice().expert <= kGpusOfNode) return all;
  const double nodes = static_cast<double>(writer.slice().expert) / kGpusOfNode;
  const double top = shape.experts->top_k;
  return all * nodes * (1 - std::pow(1 - 1 / nodes, top)) / top;
}

/// Writes one exchange of tokens: to the experts (`is_first`) or back. Under all_gather every rank gets all
/// tokens, and the results are summed where they are scattered.
void write_dispatch(const LayerWriter& writer, const TransformerShape& shape, const Sizes& sizes,
                    bool is_first, std::vector<LayerStep>& steps) {
  const LayerSlice& slice = writer.slice();
  // Every rank gets the tokens of all expert ranks, and picks those of its experts.
  if (slice.dispatch == TokenDispatch::all_gather) {
    const double tokens = static_cast<double>(slice.norm_tokens()) * sizes.row_bytes * slice.expert;
    return writer.exchange(steps, ParallelAxis::expert,
                           is_first ? Exchange::all_gather : Exchange::reduce_scatter, tokens);
  }
  writer.exchange(steps, ParallelAxis::expert, Exchange::all_to_all, dispatched_bytes(writer, shape, sizes));
}

/// Returns the elements between the two products of the local experts.
double gate_elements(const Sizes& sizes) {
  return static_cast<double>(sizes.down.rows * sizes.down.in * sizes.local);
}

}  // namespace

void write_shared_experts(const LayerWriter& writer, const TransformerShape& shape, bool backward,
                          std::vector<LayerStep>& steps) {
  if (shape.experts->shared == 0) return;
  const std::int64_t rows = writer.slice().tokens();
  const std::int64_t inner = shape.experts->shared * shape.experts->width / writer.slice().tensor;
  const LinearSize up{rows, shape.hidden, (shape.gated ? 2 : 1) * inner}, down{rows, inner, shape.hidden};
  const auto gate = static_cast<double>(rows * inner);
  const LayerKernels& kernels = writer.kernels();
  // Shared experts are a dense feed-forward part under tensor parallelism.
  if (backward) {
    writer.row_backward(steps, down);
    steps.push_back(LayerWriter::pass(gate, kernels.gate_backward_passes, kernels.gate_backward_launches));
    return writer.column_backward(steps, up);
  }
  writer.column_forward(steps, up);
  steps.push_back(LayerWriter::pass(gate, kernels.gate_passes, kernels.gate_launches));
  writer.row_forward(steps, down);
}

// The steps: router, counts, permutation, dispatch, grouped products with the gate between them, return,
// combination.
void write_experts_forward(const LayerWriter& writer, const TransformerShape& shape,
                           std::vector<LayerStep>& steps) {
  const Sizes sizes = sizes_of(writer, shape);
  const std::int64_t tokens = writer.slice().norm_tokens();
  const auto scores = static_cast<double>(tokens * shape.experts->experts);
  // The router: a product in 16 bit, whatever the precision of the experts, then the choice. Megatron-LM
  // computes logits in the type of the model unless moe_router_dtype says otherwise; the softmax is in fp32.
  steps.push_back(LayerStep::product_of(tokens, shape.experts->experts, shape.hidden));
  steps.back().is_half = true;
  steps.push_back(LayerWriter::pass(2 * scores, kRouterPasses, kRouterLaunches));
  // The sizes of a dropless dispatch are known only when all ranks have counted, so the host reads them.
  const bool reads = writer.slice().capacity_factor <= 0 && writer.slice().expert > 1;
  if (reads && writer.kernels().sends_expert_counts)
    writer.exchange(steps, ParallelAxis::expert, Exchange::all_to_all,
                    kCountBytes * static_cast<double>(shape.experts->experts));
  steps.back().host_waits = reads;
  steps.push_back(LayerStep::moved(2 * sizes.sent * sizes.row_bytes));
  write_dispatch(writer, shape, sizes, true, steps);
  writer.exchange(steps, ParallelAxis::expert_tensor, Exchange::all_gather,
                  sizes.sent * sizes.row_bytes * writer.slice().expert_tensor);
  // Rows of several local experts are sorted by expert for the grouped product.
  if (sizes.local > 1) steps.push_back(LayerStep::moved(2 * sizes.sent * sizes.row_bytes));
  writer.plain_forward(steps, sizes.up);
  steps.push_back(
      LayerWriter::pass(gate_elements(sizes), writer.kernels().gate_passes, writer.kernels().gate_launches));
  writer.plain_forward(steps, sizes.down);
  writer.exchange(steps, ParallelAxis::expert_tensor, Exchange::reduce_scatter,
                  sizes.sent * sizes.row_bytes * writer.slice().expert_tensor);
  write_dispatch(writer, shape, sizes, false, steps);
  steps.push_back(LayerStep::moved((sizes.sent + static_cast<double>(tokens)) * sizes.row_bytes));
  write_shared_experts(writer, shape, false, steps);
}

void write_experts_backward(const LayerWriter& writer, const TransformerShape& shape,
                            std::vector<LayerStep>& steps) {
  const Sizes sizes = sizes_of(writer, shape);
  const std::int64_t tokens = writer.slice().norm_tokens();
  // Backward runs the forward steps in reverse: combination, exchange, experts, exchange, permutation,
  // router.
  write_shared_experts(writer, shape, true, steps);
  steps.push_back(LayerStep::moved((2 * sizes.sent + static_cast<double>(tokens)) * sizes.row_bytes, 2));
  write_dispatch(writer, shape, sizes, true, steps);
  writer.exchange(steps, ParallelAxis::expert_tensor, Exchange::all_gather,
                  sizes.sent * sizes.row_bytes * writer.slice().expert_tensor);
  writer.plain_backward(steps, sizes.down);
  steps.push_back(LayerWriter::pass(gate_elements(sizes), writer.kernels().gate_backward_passes,
                                    writer.kernels().gate_backward_launches));
  writer.plain_backward(steps, sizes.up);
  writer.exchange(steps, ParallelAxis::expert_tensor, Exchange::reduce_scatter,
                  sizes.sent * sizes.row_bytes * writer.slice().expert_tensor);
  write_dispatch(writer, shape, sizes, false, steps);
  steps.push_back(LayerStep::moved((sizes.sent + 2 * static_cast<double>(tokens)) * sizes.row_bytes));
  const auto scores = static_cast<double>(tokens * shape.experts->experts);
  steps.push_back(LayerWriter::pass(2 * scores, kRouterPasses, kRouterLaunches));
  const std::size_t router = steps.size();
  writer.plain_backward(steps, {tokens, shape.hidden, shape.experts->experts});
  for (std::size_t i = router; i < steps.size(); ++i) steps[i].is_half = true;  // as forward
}

// Kept are the rows of the experts and the tensors between their products.
ExpertBytes saved_by_experts(const LayerWriter& writer, const TransformerShape& shape) {
  const Sizes sizes = sizes_of(writer, shape);
  const LayerKernels& kernels = writer.kernels();
  const double operand = kept_operand_bytes(writer.slice().precision);
  // The last product's input is kept in the type of the operands, other tensors in 16 bits.
  const double inner = 2 * (kernels.saved_inner - 1) + operand;  // of each element between the products
  ExpertBytes kept;
  kept.activated = operand * gate_elements(sizes);
  kept.shared = inner * static_cast<double>(writer.slice().tokens() * shape.experts->shared *
                                            shape.experts->width / writer.slice().tensor);
  const double rows = operand + 2 * (kernels.saved_expert_rows - 1);
  kept.all =
      inner * gate_elements(sizes) + rows * sizes.sent * static_cast<double>(shape.hidden) + kept.shared;
  return kept;
}

}  // namespace foretrain

// Linear layers under tensor parallelism. Overlap follows the frameworks' order of calls: an exchange marked
// `behind` runs beside the following steps until a step waits for it by name.
#include "sim/workload/transformer/layer_writer.hpp"

#include "sim/workload/device/tensor_cores.hpp"

namespace foretrain {

namespace {

/// Number of pieces that user buffers and async TP cut a scattered sum into (Transformer Engine's default for
/// a pipelined reduce-scatter).
constexpr double kPipelinedPieces = 4;
/// Bytes to add one gradient: 16 bit read, the fp32 sum read and written.
constexpr double kAddBytes = 10;
/// Bytes per element of Transformer Engine's NVFP4 recipe. The largest value of the tensor is found first,
/// with one read. Then both orders of its blocks of 16 are written, each an operand with its scales. Weights
/// are converted once a step.
constexpr double kQuantizeBytes = 2 + 2 + 2 * kFp4Bytes;
constexpr int kQuantizeLaunches = 2;
/// Bytes that a product which adds to fp32 moves beyond one that writes 16 bit.
constexpr double kFusedAddBytes = 6;

int last_of(const std::vector<LayerStep>& steps) { return static_cast<int>(steps.size()) - 1; }

}  // namespace

LayerStep LayerStep::product_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count) {
  LayerStep step;
  step.kind = Kind::product, step.m = m, step.n = n, step.k = k, step.count = count;
  return step;
}

LayerStep LayerStep::moved(double bytes, int launches) {
  LayerStep step;
  step.bytes = bytes, step.launches = launches;
  return step;
}

LayerStep LayerStep::exchange_of(ParallelAxis along, Exchange exchange, double bytes) {
  LayerStep step;
  step.kind = Kind::exchange, step.along = along, step.exchange = exchange, step.bytes = bytes;
  return step;
}

LayerStep LayerWriter::pass(double elements, double passes, int launches) {
  return LayerStep::moved(2 * elements * passes, launches);
}

int LayerWriter::ranks(ParallelAxis along) const {
  switch (along) {
    case ParallelAxis::tensor:
      return slice_.tensor;
    case ParallelAxis::context:
      return slice_.context;
    case ParallelAxis::expert:
      return slice_.expert;
    case ParallelAxis::expert_tensor:
      return slice_.expert_tensor;
    case ParallelAxis::none:
      break;
  }
  return 1;
}

void LayerWriter::quantize(std::vector<LayerStep>& steps, std::int64_t elements) const {
  if (slice_.precision != KernelPrecision::fp4) return;
  steps.push_back(LayerStep::moved(kQuantizeBytes * static_cast<double>(elements), kQuantizeLaunches));
}

void LayerWriter::exchange(std::vector<LayerStep>& steps, ParallelAxis along, Exchange exchange,
                           double bytes) const {
  if (ranks(along) > 1) steps.push_back(LayerStep::exchange_of(along, exchange, bytes));
}

/// Writes the product of a gathered input. The rank's own rows run while the others' arrive; then come those
/// before and those behind its own.
void LayerWriter::gathered_products(std::vector<LayerStep>& steps, const LinearSize& size, int gather) const {
  const std::int64_t own = (size.rows + slice_.tensor - 1) / slice_.tensor, rest = size.rows - own;
  // The first piece needs no exchange; the later ones wait for the gather.
  steps.push_back(LayerStep::product_of(own, size.out, size.in, size.count));
  steps.back().python = 1;
  const std::int64_t first = slice_.tensor > 2 ? rest / 2 : rest;
  steps.push_back(LayerStep::product_of(first, size.out, size.in, size.count));
  steps.back().waits_for = gather;
  if (rest > first) steps.push_back(LayerStep::product_of(rest - first, size.out, size.in, size.count));
}

// A column layer gathers its input under sequence parallelism; otherwise every rank has it already.
void LayerWriter::column_forward(std::vector<LayerStep>& steps, const LinearSize& size) const {
  if (!cuts_tensor() || !slice_.sequence_parallel) return plain_forward(steps, size);
  exchange(steps, ParallelAxis::tensor, Exchange::all_gather, message(size, true));
  if (slice_.overlap == TensorOverlap::pieces) steps.back().exposed = 1.0 / slice_.tensor;
  if (slice_.overlap != TensorOverlap::backward || kernels_.pieces_of_gathered < 2)
    return plain_forward(steps, size);
  steps.back().behind = true;
  gathered_products(steps, size, last_of(steps));
}

// The product of each rank is a partial sum of the result, which the exchange adds up.
void LayerWriter::row_forward(std::vector<LayerStep>& steps, const LinearSize& size) const {
  plain_forward(steps, size);
  exchange(steps, ParallelAxis::tensor,
           slice_.sequence_parallel ? Exchange::reduce_scatter : Exchange::all_reduce, message(size, false));
  if (cuts_tensor() && slice_.overlap == TensorOverlap::pieces) steps.back().exposed = 1 / kPipelinedPieces;
}

// The gathered input is needed by the gradient of the weights alone, so the input's gradient runs meanwhile.
void LayerWriter::column_backward(std::vector<LayerStep>& steps, const LinearSize& size, int matrices) const {
  if (!cuts_tensor()) return plain_backward(steps, size);
  const bool overlaps = slice_.overlap != TensorOverlap::none;
  // The place of the gather that the weights' gradient waits for; -1: it has ended or there is none.
  int gather = -1;
  if (slice_.sequence_parallel && kernels_.regathers_inputs) {
    exchange(steps, ParallelAxis::tensor, Exchange::all_gather, message(size, true));
    steps.back().behind = overlaps, gather = overlaps ? last_of(steps) : -1;
  }
  quantize(steps, size.rows * size.out * size.count);
  steps.push_back(LayerStep::product_of(size.rows, size.in, size.out, size.count));
  steps.back().python = 1;
  // Some frameworks sum the input's gradient once for each matrix that read it.
  const bool sums_each = kernels_.sums_each_matrix && !slice_.sequence_parallel;
  for (int i = 0; i < (sums_each ? matrices : 1); ++i)
    exchange(steps, ParallelAxis::tensor,
             slice_.sequence_parallel ? Exchange::reduce_scatter : Exchange::all_reduce, message(size, true));
  steps.back().behind = overlaps;
  const int scatter = last_of(steps);
  weight_gradient(steps, size, gather);
  if (!overlaps) return;
  steps.push_back(LayerStep::moved(0, 0));  // what follows needs the input's gradient
  steps.back().waits_for = scatter;
}

// The gradient of a scattered sum has to be gathered before both products read it.
void LayerWriter::row_backward(std::vector<LayerStep>& steps, const LinearSize& size) const {
  if (!cuts_tensor() || !slice_.sequence_parallel) return plain_backward(steps, size);
  exchange(steps, ParallelAxis::tensor, Exchange::all_gather, message(size, false));
  if (slice_.overlap == TensorOverlap::pieces) steps.back().exposed = 1.0 / slice_.tensor;
  if (slice_.overlap != TensorOverlap::backward || !kernels_.overlaps_row_backward)
    return plain_backward(steps, size);
  steps.back().behind = true;
  gathered_products(steps, {size.rows, size.out, size.in, size.count}, last_of(steps));
  weight_gradient(steps, size, -1);
}

void LayerWriter::plain_forward(std::vector<LayerStep>& steps, const LinearSize& size) const {
  quantize(steps, size.rows * size.in * size.count);
  steps.push_back(LayerStep::product_of(size.rows, size.out, size.in, size.count));
  steps.back().python = cuts_tensor() ? 1 : 0;
}

// The products are for the input, then for the weights.
void LayerWriter::plain_backward(std::vector<LayerStep>& steps, const LinearSize& size) const {
  quantize(steps, size.rows * size.out * size.count);
  steps.push_back(LayerStep::product_of(size.rows, size.in, size.out, size.count));
  steps.back().python = cuts_tensor() ? 1 : 0;
  weight_gradient(steps, size, -1);
}

// No step of the same layer waits for this product, so pipelines may delay it.
void LayerWriter::weight_gradient(std::vector<LayerStep>& steps, const LinearSize& size,
                                  int waits_for) const {
  steps.push_back(LayerStep::product_of(size.in, size.out, size.rows, size.count));
  steps.back().waits_for = waits_for, steps.back().is_weight_gradient = true;
  accumulate(steps, size.parameters());
}

// A single micro-batch writes its gradients and has nothing to add to.
void LayerWriter::accumulate(std::vector<LayerStep>& steps, std::int64_t parameters) const {
  if (!slice_.accumulates) return;
  // A fused product adds to fp32 itself: more bytes, but no further kernel.
  const bool fused = kernels_.weight_gradients_add;
  steps.push_back(LayerStep::moved((fused ? kFusedAddBytes : kAddBytes) * static_cast<double>(parameters),
                                   fused ? 0 : 1));
  steps.back().is_weight_gradient = true;
}

}  // namespace foretrain

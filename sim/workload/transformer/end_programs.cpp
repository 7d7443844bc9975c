// The two ends of a language model: the embedding table, and norm, head and cross entropy. Both are cut by
// vocabulary over tensor ranks.
#include "sim/workload/transformer/layer_writer.hpp"

namespace foretrain {

namespace {

/// Returns the rows of the table that one tensor rank has, rounded up.
std::int64_t words_of_rank(const TransformerShape& shape, const LayerSlice& slice) {
  return (shape.vocabulary + slice.tensor - 1) / slice.tensor;
}

/// Bytes per element to fill the table's gradient with zeros first; it is as large as the table.
constexpr double kFillBytes = 2;
/// Sums of a cross entropy cut by vocabulary: the largest logit, the wanted one, and the sum of exponentials,
/// in fp32 each.
constexpr int kLossSums = 3;
constexpr int kLossLaunches = 10;

}  // namespace

// A cut table gives zeros for words of other ranks; the exchange adds up the results.
LayerProgram embedding_program(const TransformerShape& shape, const LayerSlice& slice,
                               const LayerKernels& kernels) {
  const LayerWriter writer(slice, kernels);
  const auto elements = static_cast<double>(slice.tokens() * shape.hidden);
  LayerProgram program;
  // A cut table also masks the words of other ranks, before and after the lookup.
  program.forward.push_back(LayerWriter::pass(elements, slice.tensor > 1 ? 4 : 2, slice.tensor > 1 ? 5 : 1));
  writer.exchange(program.forward, ParallelAxis::tensor,
                  slice.sequence_parallel ? Exchange::reduce_scatter : Exchange::all_reduce, 2 * elements);
  if (slice.sequence_parallel)
    writer.exchange(program.backward, ParallelAxis::tensor, Exchange::all_gather, 2 * elements);
  const std::int64_t table = words_of_rank(shape, slice) * shape.hidden;
  // The gradient of a lookup is dense: the table is filled with zeros, then rows are added.
  program.backward.push_back(LayerStep::moved(6 * elements + kFillBytes * static_cast<double>(table), 4));
  LayerKernels apart = kernels;
  apart.weight_gradients_add = false;  // no product makes it
  LayerWriter(slice, apart).accumulate(program.backward, table);
  return program;
}

LayerProgram join_program(const TransformerShape& shape, const LayerSlice& slice,
                          const LayerKernels& kernels) {
  const LayerWriter writer(slice, kernels);
  const auto norm = static_cast<double>(slice.norm_tokens() * shape.hidden);
  // Both normed rows are put side by side, so the product is twice as deep.
  const LinearSize join{slice.tokens(), 2 * shape.hidden, (shape.hidden + slice.tensor - 1) / slice.tensor};
  const double whole = 2.0 * static_cast<double>(slice.tokens() * shape.hidden);
  LayerProgram program;
  program.forward.push_back(LayerWriter::pass(norm, 2 * kernels.norm_passes, 2 * kernels.norm_launches));
  writer.column_forward(program.forward, join);
  writer.exchange(program.forward, ParallelAxis::tensor, Exchange::all_gather, whole);
  writer.column_backward(program.backward, join);
  program.backward.push_back(
      LayerWriter::pass(norm, 2 * kernels.norm_backward_passes, 2 * kernels.norm_backward_launches));
  program.saved_bytes = 8 * norm;
  return program;
}

// Head and loss stay in 16 bits whatever the precision of the layers is.
LayerProgram head_program(const TransformerShape& shape, const LayerSlice& narrow,
                          const LayerKernels& kernels) {
  LayerSlice slice = narrow;
  slice.precision = KernelPrecision::bf16;  // nothing is converted to less
  const LayerWriter writer(slice, kernels);
  const auto norm = static_cast<double>(slice.norm_tokens() * shape.hidden);
  const LinearSize head{slice.tokens(), shape.hidden, words_of_rank(shape, slice)};
  const auto logits = static_cast<double>(head.rows * head.out);
  LayerProgram program;
  program.forward.push_back(LayerWriter::pass(norm, kernels.norm_passes, kernels.norm_launches));
  writer.column_forward(program.forward, head);
  for (LayerStep& step : program.forward) step.is_half = true;  // heads stay in 16 bit
  program.forward.push_back(LayerWriter::pass(logits, kernels.loss_passes, kLossLaunches));
  // Either the logits of all tensor ranks are gathered, or the loss exchanges sums alone.
  if (kernels.gathers_logits)
    writer.exchange(program.forward, ParallelAxis::tensor, Exchange::all_gather,
                    2 * static_cast<double>(head.rows * shape.vocabulary));
  for (int i = 0; i < (kernels.gathers_logits ? 0 : kLossSums * slice.loss_chunks); ++i)
    writer.exchange(program.forward, ParallelAxis::tensor, Exchange::all_reduce,
                    4 * static_cast<double>(head.rows) / slice.loss_chunks);
  program.backward.push_back(LayerWriter::pass(logits, kernels.loss_backward_passes, 3));
  writer.column_backward(program.backward, head);
  for (LayerStep& step : program.backward) step.is_half = true;
  program.backward.push_back(
      LayerWriter::pass(norm, kernels.norm_backward_passes, kernels.norm_backward_launches));
  program.saved_bytes = 4 * norm;
  program.transient_bytes = kernels.saved_logit_bytes * logits;
  return program;
}

}  // namespace foretrain

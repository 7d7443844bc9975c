// Rows of a mixture of experts: they are gathered, pass perceptrons one by one or all at once, are weighted,
// and are added up. Every function records its operators and returns its result.
#pragma once

#include <string>
#include <string_view>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// Returns an operator of a script that reads and writes `bytes` for each sample.
Operator script_pass(OperatorClass cls, HostCall call, double flops, double bytes, int kernels = 1);

/// Gathers `rows` of the input's rows, found by a search through a column of the choice or by sorting it.
/// Backward writes them into zeros of the whole.
TensorId gather_rows(Tape& tape, TensorId input, std::int64_t rows);
/// Multiplies rows by the router's weights, which get a gradient of their own: a product and its sum over the
/// width.
TensorId record_weighting(Tape& tape, TensorId rows, TensorId weights);
/// Adds rows to the sum of all experts (index_add_), in place.
TensorId scatter_rows(Tape& tape, TensorId sum, TensorId rows);
/// Makes zeros that results are added to.
TensorId record_zeros(Tape& tape, const Shape& shape);

/// A perceptron of inner width `width` with silu; `gated`: silu(x a) * (x b). `prefix` is put before "gate.",
/// "up." and "down.".
struct Perceptron {
  std::string prefix;
  std::int64_t width = 0;
  bool gated = true;
};
TensorId record_perceptron(Tape& tape, const Perceptron& own, TensorId rows);
/// Applies `experts` perceptrons at once to rows that are sorted by expert and shared out evenly. Weights are
/// tensors of all experts; each product is one kernel of as many products (torch._grouped_mm, Megatron's
/// grouped GEMM).
TensorId record_grouped_perceptrons(Tape& tape, const Perceptron& own, std::int64_t experts, TensorId rows);
/// Multiplies rows by sigmoid(x w), one number a row, with w trained.
TensorId record_row_gate(Tape& tape, TensorId input, TensorId rows, std::string_view prefix);

}  // namespace foretrain

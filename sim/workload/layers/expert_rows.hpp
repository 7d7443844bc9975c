// What a mixture of experts does with rows: gathered, through perceptrons one by one or all at once,
// weighted, added up.
#pragma once

#include <string>
#include <string_view>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// An operator of a script that reads and writes `bytes` for each sample.
Operator script_pass(OperatorClass cls, HostCall call, double flops, double bytes, int kernels = 1);

/// `rows` of the input's, found by a search through a column of the choice, or by a sort of it; backward
/// writes them into zeros of the whole.
TensorId gather_rows(Tape& tape, TensorId input, std::int64_t rows);
/// Times the router's weights, which get a gradient of their own: a product and its sum over the width.
TensorId record_weighting(Tape& tape, TensorId rows, TensorId weights);
/// index_add_ into the sum of all experts.
TensorId scatter_rows(Tape& tape, TensorId sum, TensorId rows);
/// Zeros that results are added to.
TensorId record_zeros(Tape& tape, const Shape& shape);

/// A perceptron of `width` with silu; `gated`: silu(x a) * (x b). `prefix` goes before "gate.", "up.",
/// "down.".
struct Perceptron {
  std::string prefix;
  std::int64_t width = 0;
  bool gated = true;
};
TensorId record_perceptron(Tape& tape, const Perceptron& own, TensorId rows);
/// The same of `experts` at once, rows sorted by expert and shared out evenly: weights are tensors of all
/// experts, each product is one kernel of so many products (torch._grouped_mm, Megatron's grouped GEMM).
TensorId record_grouped_perceptrons(Tape& tape, const Perceptron& own, std::int64_t experts, TensorId rows);
/// Times sigmoid(x w), one number a row, with w trained.
TensorId record_row_gate(Tape& tape, TensorId input, TensorId rows, std::string_view prefix);

}  // namespace foretrain

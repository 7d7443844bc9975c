// Optimizers that treat matrices apart: Muon, GaLore, APOLLO and Shampoo.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload/lowering/optimizer.hpp"
#include "sim/workload/lowering/weight_shapes.hpp"

namespace foretrain {

/// By trained parameter; nothing for vectors, tables, kernels of convolutions, and weights outside of blocks,
/// which these optimizers leave to Adam.
std::vector<std::optional<MatrixShape>> matrices_of(const ExpandedModel& model);

/// The state of all parameters; `element_bytes` 0: as wide as they are. Muon: a momentum for each element.
/// GaLore of rank r: a projector of r x the shorter side and two moments of r x the longer one (galore_torch,
/// galore_projector.py; the moments of 8 bits take one byte), and APOLLO as much (apollo_torch,
/// random_projector.py [unverified]). Shampoo: for each block of at most 1024 x 1024
/// two factors and their roots in fp32, and two moments of its grafting.
double matrix_state_bytes(const Optimizer& optimizer, const ExpandedModel& model, double element_bytes = 0);

/// So many equal products behind one another.
struct MatrixProducts {
  Operator op;
  int count = 1;
};

/// What a step runs besides element-wise work.
struct MatrixStep {
  std::vector<std::int64_t> adam;       ///< sizes of the tensors that Adam steps
  std::vector<OptimizerLaunch> passes;  ///< element-wise work over matrices
  std::vector<MatrixProducts> products;
  double decomposition_flops = 0;  ///< of singular values and roots, one step's part of them
};
MatrixStep matrix_step(const Optimizer& optimizer, const ExpandedModel& model);

/// Of the peak of fp32 that a decomposition reaches. 600 s are told for the projectors of LLaMA-7B, 4.7e14
/// FLOPs (Q-GaLore, arXiv 2407.08296), on a GPU that is not told; an A100 is assumed [unverified].
inline constexpr double kDecompositionShare = 0.04;

}  // namespace foretrain

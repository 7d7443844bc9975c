// Optimizers that treat matrices differently from other parameters: Muon, GaLore, APOLLO and Shampoo.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload/lowering/optimizer.hpp"
#include "sim/workload/lowering/weight_shapes.hpp"

namespace foretrain {

/// Returns a shape by trained parameter. It is empty for vectors, tables, kernels of convolutions and weights
/// outside of blocks, which these optimizers leave to Adam.
std::vector<std::optional<MatrixShape>> matrices_of(const ExpandedModel& model);

/// Returns the bytes of the state of all parameters. An `element_bytes` of 0 makes states as wide as their
/// parameters.
/// - Muon: a momentum for each element.
/// - GaLore of rank r: a projector of r x the shorter side and two moments of r x the longer one
///   (galore_torch, galore_projector.py; the moments of 8 bits take one byte). APOLLO has as much
///   (apollo_torch, random_projector.py [unverified]).
/// - Shampoo: two factors and their roots in fp32 for each block of at most 1024 x 1024, and two moments of
///   its grafting.
double matrix_state_bytes(const Optimizer& optimizer, const ExpandedModel& model, double element_bytes = 0);

/// A number of equal products, one after the other.
struct MatrixProducts {
  Operator op;
  int count = 1;
};

/// The work of one step: tensors for Adam, element-wise passes, matrix products and decompositions.
struct MatrixStep {
  std::vector<std::int64_t> adam;       ///< sizes of the tensors that Adam steps
  std::vector<OptimizerLaunch> passes;  ///< element-wise work over matrices
  std::vector<MatrixProducts> products;
  double decomposition_flops = 0;  ///< FLOPs of singular values and roots, one step's part of them
};
/// Returns the work of one optimizer step on a network's trained parameters.
MatrixStep matrix_step(const Optimizer& optimizer, const ExpandedModel& model);

/// Fraction of the fp32 peak rate that a decomposition reaches. Q-GaLore (arXiv 2407.08296) reports 600 s for
/// the projectors of LLaMA-7B, which are 4.7e14 FLOPs. The paper does not name the GPU; an A100 is assumed
/// [unverified].
inline constexpr double kDecompositionShare = 0.04;

}  // namespace foretrain

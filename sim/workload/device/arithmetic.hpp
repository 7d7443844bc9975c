// The arithmetic units that an operator runs on under a precision on a GPU, and their peak rate.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// The arithmetic units of an operator. cuda_cores: fp32 arithmetic, and 16 bit where the GPU has no tensor
/// cores. The others: tensor cores with that input type.
enum class Arithmetic : std::uint8_t { none, cuda_cores, tf32, half, fp8 };

/// True for NVIDIA's architectures since Volta and those that the enumeration lists after it.
bool has_tensor_cores(Architecture architecture);

/// Returns the units that the framework's libraries choose. Convolutions of an fp32 network run in TF32 where
/// the GPU has it (cuDNN's default since Ampere). Matrix products do so only under `tf32` or in TensorFlow.
/// Depthwise convolutions stay on CUDA cores. fp8 applies to trained matrix products; everything else of an
/// fp8 run is 16 bit.
Arithmetic arithmetic_of(const Operator& op, const Gpu& gpu, Precision precision, const Framework& framework);

/// Returns the dense peak of that arithmetic at the sustained clock, and 0 for `none`. 16 bit on CUDA cores
/// runs at the better of the fp32 and fp16 rates.
FlopRate peak_rate(const Operator& op, const Gpu& gpu, Precision precision, const Framework& framework);

/// Returns the clock in Hz at which the data sheet's fp32 peak holds: peak / (multiprocessors x cores of one
/// x 2).
double clock_rate(const Gpu& gpu);

/// Returns the bytes of one tensor element of the operator under this precision, relative to fp32.
double element_share(const Operator& op, Precision precision);

}  // namespace foretrain

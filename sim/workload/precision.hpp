// The types in which a training computes and stores.
#pragma once

#include <cstdint>
#include <string_view>

namespace foretrain {

/// The precision of a training. fp32: as the framework runs it by default, which since Ampere means TF32
/// inside cuDNN convolutions, and in matrix products under TensorFlow and some versions of PyTorch
/// (products_default_to_tf32). tf32: TF32 in both. amp_fp16, bf16: autocast with fp32 weights, fp16 with a
/// GradScaler. fp8: bf16 with the products of linear and attention layers in fp8 (Transformer Engine).
enum class Precision : std::uint8_t { fp32, tf32, amp_fp16, bf16, fp8 };
/// Returns the name as scenario files write it.
std::string_view name_of(Precision precision);
/// True for precisions that compute in 16 bits or fewer.
inline bool is_half(Precision p) { return p >= Precision::amp_fp16; }

}  // namespace foretrain

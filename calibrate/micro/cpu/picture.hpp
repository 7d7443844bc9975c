// A picture coded like baseline JPEG: 8 x 8 blocks, quantized DCT, runs of zeros, a prefix code; its own
// format, decoded deterministically.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace foretrain::micro {

/// Blocks one after the other, each as (run of zeros, value) pairs in zigzag order in Elias gamma codes, a
/// zero run of 64 ends it.
struct CodedPicture {
  int blocks = 0;
  std::vector<std::uint8_t> bits;  ///< most significant bit first
};

using Block = std::array<std::int16_t, 64>;  ///< row by row

/// Code for coefficients in row order.
CodedPicture code_blocks(const std::vector<Block>& coefficients);

/// The coefficients again.
std::vector<Block> decode_coefficients(const CodedPicture& picture);

/// The pixels 0..255: dequantized, inverse DCT in integers of 13 bits, clamped.
std::vector<std::uint8_t> decode_pixels(const CodedPicture& picture);

/// 500 x 375 in colour without subsampling, as coefficients of a photograph fall off: the mean picture of
/// ImageNet is about as large.
CodedPicture typical_picture();

}  // namespace foretrain::micro

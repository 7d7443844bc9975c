// The work per pixel is that of JPEG: bit-serial prefix codes, dequantization, two passes of eight-point
// inverse DCTs.
#include "calibrate/micro/cpu/picture.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "calibrate/micro/plan/verify.hpp"

namespace foretrain::micro {

namespace {

constexpr int kEnd = 64;       ///< the run that ends a block
constexpr int kFraction = 13;  ///< bits of the cosines

class BitWriter {
 public:
  /// value >= 1
  void gamma(std::uint32_t value) {
    int length = 0;
    while ((value >> length) > 1) ++length;
    for (int i = 0; i < length; ++i) bit(0);
    for (int i = length; i >= 0; --i) bit(value >> i & 1u);
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  void bit(std::uint32_t value) {
    if (used_ % 8 == 0) bytes_.push_back(0);
    bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | value << (7 - used_ % 8));
    ++used_;
  }
  std::vector<std::uint8_t> bytes_;
  std::size_t used_ = 0;
};

class BitReader {
 public:
  explicit BitReader(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  std::uint32_t gamma() {
    int length = 0;
    while (at_ < 8 * bytes_.size() && bit() == 0) ++length;
    std::uint32_t value = 1;
    for (int i = 0; i < length; ++i) value = value << 1 | bit();
    return value;
  }

 private:
  std::uint32_t bit() {
    const std::uint32_t value = at_ < 8 * bytes_.size() ? bytes_[at_ / 8] >> (7 - at_ % 8) & 1u : 0;
    ++at_;
    return value;
  }
  const std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 0;
};

std::array<int, 64> zigzag_order() {
  std::array<int, 64> order{};
  for (int i = 0; i < 64; ++i) order[static_cast<std::size_t>(i)] = i;
  std::sort(order.begin(), order.end(), [](int a, int b) {
    const int da = a / 8 + a % 8, db = b / 8 + b % 8;
    if (da != db) return da < db;
    return da % 2 == 0 ? a > b : a < b;
  });
  return order;
}

/// Signed to unsigned: 1, -1, 2, -2 as 1, 2, 3, 4.
std::uint32_t folded(int value) {
  return value > 0 ? static_cast<std::uint32_t>(2 * value - 1) : static_cast<std::uint32_t>(-2 * value);
}
int unfolded(std::uint32_t code) {
  return code % 2 == 1 ? static_cast<int>(code / 2) + 1 : -static_cast<int>(code / 2);
}

/// cosines[x * 8 + u]: of the inverse DCT, with the factors 1/2 and 1/sqrt(8), in 2^-13.
std::array<std::int32_t, 64> cosines() {
  std::array<std::int32_t, 64> table{};
  for (int x = 0; x < 8; ++x) {
    for (int u = 0; u < 8; ++u) {
      const double scale = u == 0 ? std::sqrt(0.125) : 0.5;
      table[static_cast<std::size_t>(x * 8 + u)] = static_cast<std::int32_t>(
          std::lround(scale * std::cos((2 * x + 1) * u * std::numbers::pi / 16) * (1 << kFraction)));
    }
  }
  return table;
}

/// One dimension of the inverse DCT over the eight rows, transposed: two calls do both.
void transform_rows(const std::array<std::int32_t, 64>& table, const std::array<std::int32_t, 64>& in,
                    std::array<std::int32_t, 64>& out) {
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t x = 0; x < 8; ++x) {
      std::int32_t sum = 1 << (kFraction - 1);
      for (std::size_t u = 0; u < 8; ++u) sum += in[row * 8 + u] * table[x * 8 + u];
      out[x * 8 + row] = sum >> kFraction;
    }
  }
}

void read_block(BitReader& reader, const std::array<int, 64>& order, Block& block) {
  block.fill(0);
  for (std::size_t at = 0; at <= 64; ++at) {
    const std::uint32_t run = reader.gamma() - 1;
    if (run >= kEnd) return;
    at += run;
    const int value = unfolded(reader.gamma());
    if (at < 64) block[static_cast<std::size_t>(order[at])] = static_cast<std::int16_t>(value);
  }
}

}  // namespace

CodedPicture code_blocks(const std::vector<Block>& coefficients) {
  const auto order = zigzag_order();
  BitWriter writer;
  for (const Block& block : coefficients) {
    std::uint32_t run = 0;
    for (const int at : order) {
      const int value = block[static_cast<std::size_t>(at)];
      if (value == 0) {
        ++run;
        continue;
      }
      writer.gamma(run + 1);
      writer.gamma(folded(value));
      run = 0;
    }
    writer.gamma(kEnd + 1);
  }
  return {static_cast<int>(coefficients.size()), writer.take()};
}

std::vector<Block> decode_coefficients(const CodedPicture& picture) {
  const auto order = zigzag_order();
  BitReader reader(picture.bits);
  std::vector<Block> blocks(static_cast<std::size_t>(picture.blocks));
  for (Block& block : blocks) read_block(reader, order, block);
  return blocks;
}

std::vector<std::uint8_t> decode_pixels(const CodedPicture& picture) {
  static const auto order = zigzag_order();
  static const auto table = cosines();
  BitReader reader(picture.bits);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(picture.blocks) * 64);
  Block block;
  std::array<std::int32_t, 64> in{}, middle{}, out{};
  for (std::size_t b = 0; b < static_cast<std::size_t>(picture.blocks); ++b) {
    read_block(reader, order, block);
    for (std::size_t i = 0; i < 64; ++i)
      in[i] = block[i] * static_cast<std::int32_t>(8 + 2 * (i / 8 + i % 8));  // coarser for finer detail
    transform_rows(table, in, middle);
    transform_rows(table, middle, out);
    for (std::size_t i = 0; i < 64; ++i)
      pixels[b * 64 + i] = static_cast<std::uint8_t>(std::clamp(out[i] + 128, 0, 255));
  }
  return pixels;
}

CodedPicture typical_picture() {
  constexpr int kBlocks = 63 * 47 * 3, kBusy = 12;  // of 64 coefficients a photograph keeps about a dozen
  std::vector<Block> blocks(kBlocks);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b].fill(0);
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t detail = i / 8 + i % 8;
      if (detail * detail > kBusy + b % 5) continue;
      blocks[b][i] = static_cast<std::int16_t>(pattern(b * 64 + i, 7) *
                                               (detail == 0 ? 20 : static_cast<int>(6 / detail) + 1));
    }
  }
  return code_blocks(blocks);
}

}  // namespace foretrain::micro

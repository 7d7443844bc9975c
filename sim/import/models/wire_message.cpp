// Protobuf's encoding (protobuf.dev/programming-guides/encoding): a key is field * 8 + wire type; 0 varint, 1
// eight bytes, 2 length and bytes, 5 four bytes; groups (3, 4) are of the past and end the walk.
#include "sim/import/models/wire_message.hpp"

#include <bit>

namespace foretrain {

bool WireMessage::varint(std::uint64_t& out) {
  out = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (position_ == bytes_.size()) return false;
    const auto byte = static_cast<unsigned char>(bytes_[position_++]);
    out |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool WireMessage::fixed(std::size_t size) {
  if (bytes_.size() - position_ < size) return false;
  number_ = 0;
  for (std::size_t i = 0; i < size; ++i)
    number_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[position_ + i])) << (8 * i);
  position_ += size;
  return true;
}

bool WireMessage::next() {
  if (broken_ || position_ == bytes_.size()) return false;
  std::uint64_t key = 0;
  number_ = 0, inside_ = {};
  bool sound = varint(key) && key >> 3 > 0 && key >> 3 < (1U << 29);
  field_ = static_cast<int>(key >> 3), wire_ = static_cast<int>(key & 7);
  if (sound && wire_ == 0) {
    sound = varint(number_);
  } else if (sound && wire_ == 2) {
    std::uint64_t length = 0;
    sound = varint(length) && length <= bytes_.size() - position_;
    if (sound) inside_ = bytes_.substr(position_, length), position_ += length;
  } else {
    sound = sound && (wire_ == 1 || wire_ == 5) && fixed(wire_ == 1 ? 8 : 4);
  }
  broken_ = !sound;
  return sound;
}

float WireMessage::real() const { return std::bit_cast<float>(static_cast<std::uint32_t>(number_)); }

bool WireMessage::append_integers(std::vector<std::int64_t>& to, std::size_t most) {
  if (wire_ != 2) {
    to.push_back(integer());
    return to.size() <= most;
  }
  WireMessage packed(inside_);
  while (packed.position_ < inside_.size() && to.size() <= most) {
    std::uint64_t value = 0;
    if (!packed.varint(value)) return false;
    to.push_back(static_cast<std::int64_t>(value));
  }
  return to.size() <= most;
}

}  // namespace foretrain

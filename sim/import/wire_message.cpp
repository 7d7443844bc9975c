// Protobuf's encoding (protobuf.dev/programming-guides/encoding). A key is field * 8 + wire type: 0 varint, 1
// eight bytes, 2 length and bytes, 5 four bytes.
// Groups (3 and 4) are obsolete and end the walk.
#include "sim/import/wire_message.hpp"

#include <bit>

namespace foretrain {

namespace {

/// The fault of a number that is cut off.
constexpr std::string_view kCutNumber = "where the file ends within a number";

}  // namespace

// A byte holds 7 bits, and its highest bit says that another byte follows.
bool WireMessage::varint(std::uint64_t& out) {
  out = 0;
  // Ten bytes hold 64 bits; more are refused, since a value cannot be so long.
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_end()) return broke(kCutNumber);
    const auto byte = static_cast<unsigned char>(bytes_[position_++]);
    out |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return broke("in a number of more than 64 bits");
}

bool WireMessage::fixed(std::size_t size) {
  // position_ never exceeds the size, so the difference cannot wrap.
  if (bytes_.size() - position_ < size) return broke(kCutNumber);
  for (std::size_t i = 0; i < size; ++i)
    number_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[position_ + i])) << (8 * i);
  position_ += size;
  return true;
}

bool WireMessage::delimited() {
  std::uint64_t length = 0;
  if (!varint(length)) return false;
  // The length is compared with the rest before it is added, so a huge one cannot overflow.
  if (length > bytes_.size() - position_) return broke("a length beyond the end");
  inside_ = bytes_.substr(position_, length);
  position_ += length;
  return true;
}

bool WireMessage::next() {
  // A fault is final: the position behind it has no meaning.
  if (is_broken() || at_end()) return false;
  std::uint64_t key = 0;
  number_ = 0, inside_ = {};
  if (!varint(key)) return false;
  // Field numbers have 29 bits, and 0 is none.
  if (key >> 3 == 0 || key >> 3 >= (1U << 29)) return broke("a field number that cannot be");
  field_ = static_cast<int>(key >> 3), wire_ = static_cast<int>(key & 7);
  switch (wire_) {
    case 0:
      return varint(number_);
    case 1:
      return fixed(8);
    case 2:
      return delimited();
    case 5:
      return fixed(4);
    default:
      return broke("a kind of field that there is none of");
  }
}

// Such a message has no key, so the field has no number.
bool WireMessage::next_in_row() {
  if (is_broken() || at_end()) return false;
  number_ = 0, inside_ = {};
  field_ = 0, wire_ = 2;
  return delimited();
}

float WireMessage::real() const { return std::bit_cast<float>(static_cast<std::uint32_t>(number_)); }

bool WireMessage::append_integers(std::vector<std::int64_t>& to, std::size_t most) {
  // A list of numbers may be written as one field for each, or packed into one field of bytes.
  if (wire_ != 2) {
    to.push_back(integer());
    return to.size() <= most;
  }
  // A packed field holds varints one behind the other, without keys.
  WireMessage packed(inside_);
  while (packed.position_ < inside_.size() && to.size() <= most) {
    std::uint64_t value = 0;
    if (!packed.varint(value)) return false;
    to.push_back(static_cast<std::int64_t>(value));
  }
  return to.size() <= most;
}

}  // namespace foretrain

// Reads a protobuf message as it is encoded: field after field, without a copy, and with every length
// checked.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace foretrain {

/// Walks over the fields of one message. The bytes must outlive the object.
/// A field that is cut off or has an unknown wire type ends the walk; nothing throws. Use: while
/// (message.next()) switch (message.field()) …
class WireMessage {
 public:
  /// `offset` is the place of the message in its file, for messages about it.
  explicit WireMessage(std::string_view bytes, std::size_t offset = 0) : bytes_(bytes), offset_(offset) {}

  /// Moves to the next field. Returns false behind the last one and where the message is broken.
  bool next();
  /// Says whether the walk ended at a fault.
  bool is_broken() const { return !fault_.empty(); }
  /// Returns the fault in words that continue a sentence, such as "a length beyond the end"; empty while
  /// there is none.
  std::string_view fault() const { return fault_; }
  /// Says whether all bytes were read.
  bool at_end() const { return position_ == bytes_.size(); }
  /// Moves to the next message of a row of messages, each of which stands behind its length; message() and
  /// bytes() then give it. Returns false at the end or at a fault.
  bool next_in_row();
  /// Returns the byte of the file where the walk stands.
  std::size_t at() const { return offset_ + position_; }

  /// Returns the number of the current field.
  int field() const { return field_; }
  /// Returns the value of a varint or a fixed number; 0 for other fields.
  std::uint64_t number() const { return number_; }
  /// Returns the same as a signed number.
  std::int64_t integer() const { return static_cast<std::int64_t>(number_); }
  /// Returns a fixed field of 32 bits as a float.
  float real() const;
  /// Returns the text, bytes or inner message of the field; empty for numbers.
  std::string_view bytes() const { return inside_; }
  /// Say which wire type the current field has.
  bool has_bytes() const { return wire_ == 2; }
  bool is_varint() const { return wire_ == 0; }
  /// Returns a walk over the message inside of the current field.
  WireMessage message() const { return WireMessage(inside_, at() - inside_.size()); }
  /// Appends the whole numbers of the field: one, or all of a packed field. Returns false if they are cut off
  /// or `to` would hold more than `most`.
  bool append_integers(std::vector<std::int64_t>& to, std::size_t most);

 private:
  /// Notes the fault and returns false.
  bool broke(std::string_view why) { return fault_ = why, false; }
  /// Reads a number of 7 bits a byte, the lowest first.
  bool varint(std::uint64_t& out);
  /// Reads a number of `size` bytes, the lowest first.
  bool fixed(std::size_t size);
  /// Reads a length and the bytes that follow it.
  bool delimited();

  /// The message, the bytes of the current field, and the fault.
  std::string_view bytes_, inside_, fault_;
  std::size_t offset_ = 0, position_ = 0;
  /// Value, number and wire type of the current field.
  std::uint64_t number_ = 0;
  int field_ = 0, wire_ = 0;
};

}  // namespace foretrain

// A protobuf message as it is on the wire: fields one after the other, nothing copied, every length checked.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace foretrain {

/// Walks the fields of one message. What breaks off or has a wire type that is none ends the walk.
class WireMessage {
 public:
  /// `offset`: of the message in its file, for messages about it.
  explicit WireMessage(std::string_view bytes, std::size_t offset = 0) : bytes_(bytes), offset_(offset) {}

  /// The next field, false behind the last one and where the message breaks.
  bool next();
  bool is_broken() const { return !fault_.empty(); }
  /// What stands where the walk broke, as "a length beyond the end"; empty while it is sound.
  std::string_view fault() const { return fault_; }
  bool at_end() const { return position_ == bytes_.size(); }
  /// The next message of a row of them, each behind its length: message() and bytes() are it.
  bool next_in_row();
  /// Where in the file the walk stands.
  std::size_t at() const { return offset_ + position_; }

  int field() const { return field_; }
  /// Of a varint or a fixed number; 0 for bytes.
  std::uint64_t number() const { return number_; }
  std::int64_t integer() const { return static_cast<std::int64_t>(number_); }
  /// A fixed field of 32 bits as the float it is.
  float real() const;
  /// Text, bytes, or a message inside; empty for numbers.
  std::string_view bytes() const { return inside_; }
  bool has_bytes() const { return wire_ == 2; }
  bool is_varint() const { return wire_ == 0; }
  WireMessage message() const { return WireMessage(inside_, at() - inside_.size()); }
  /// Appends the field's whole numbers: one, or all of a packed field. False when they break off or are more
  /// than `most` together.
  bool append_integers(std::vector<std::int64_t>& to, std::size_t most);

 private:
  bool broke(std::string_view why) { return fault_ = why, false; }
  bool varint(std::uint64_t& out);
  bool fixed(std::size_t size);
  bool delimited();

  std::string_view bytes_, inside_, fault_;
  std::size_t offset_ = 0, position_ = 0;
  std::uint64_t number_ = 0;
  int field_ = 0, wire_ = 0;
};

}  // namespace foretrain

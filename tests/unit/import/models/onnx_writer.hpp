// ONNX files for tests: a graph node by node, in protobuf's encoding.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace foretrain::test {

class OnnxWriter {
 public:
  using Dims = std::vector<std::int64_t>;

  static std::string varint(std::uint64_t number) {
    std::string out;
    for (; number >= 128; number >>= 7) out += static_cast<char>((number & 127) | 128);
    return out + static_cast<char>(number);
  }
  static std::string number(int field, std::int64_t value) {
    return varint(static_cast<std::uint64_t>(field) << 3) + varint(static_cast<std::uint64_t>(value));
  }
  static std::string bytes(int field, const std::string& value) {
    return varint((static_cast<std::uint64_t>(field) << 3) | 2) + varint(value.size()) + value;
  }
  static std::string numbers(const std::string& name, const Dims& values) {
    std::string out = bytes(1, name);
    for (const std::int64_t value : values) out += number(8, value);
    return out;
  }
  static std::string one(const std::string& name, std::int64_t value) {
    return bytes(1, name) + number(3, value);
  }

  /// 1: float, 7: int64. A dimension of 0 is open.
  void input(const std::string& name, const Dims& dims, int type = 1) {
    body_ += bytes(11, value(name, dims, type));
  }
  void output(const std::string& name) { body_ += bytes(12, bytes(1, name)); }
  void weight(const std::string& name, const Dims& dims) { body_ += bytes(5, tensor(name, dims, 1)); }
  void shape(const std::string& name, const Dims& values) {
    std::string out = number(1, static_cast<std::int64_t>(values.size())) + number(2, 7) + bytes(8, name);
    for (const std::int64_t one : values) out += number(7, one);
    body_ += bytes(5, out);
  }
  void node(const std::string& op, std::initializer_list<std::string> inputs, const std::string& output,
            std::initializer_list<std::string> attributes = {}) {
    std::string out;
    for (const std::string& name : inputs) out += bytes(1, name);
    out += bytes(2, output) + bytes(4, op);
    for (const std::string& attribute : attributes) out += bytes(5, attribute);
    body_ += bytes(1, out);
  }
  std::string file() const {
    return number(1, 8) + bytes(2, "a test") + bytes(7, body_) + bytes(8, number(2, 17));
  }

 private:
  static std::string tensor(const std::string& name, const Dims& dims, int type) {
    std::string out;
    for (const std::int64_t size : dims) out += number(1, size);
    return out + number(2, type) + bytes(8, name);
  }
  static std::string value(const std::string& name, const Dims& dims, int type) {
    std::string shape;
    for (const std::int64_t size : dims) shape += bytes(1, size > 0 ? number(1, size) : bytes(2, "N"));
    return bytes(1, name) + bytes(2, bytes(1, number(1, type) + bytes(2, shape)));
  }
  std::string body_;
};

}  // namespace foretrain::test

// Bytes of a fuzzer as choices: a grammar asks for one after the other, and where they end takes its first
// way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace foretrain::test {

class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  /// 0 .. limit - 1. Requires 1 <= limit <= 256.
  int below(std::size_t limit) {
    return next_ == bytes_.size() ? 0 : static_cast<int>(bytes_[next_++] % limit);
  }
  int between(int least, int most) { return least + below(static_cast<std::size_t>(most - least) + 1); }
  bool one_in(int n) { return below(static_cast<std::size_t>(n)) == n - 1; }
  std::string_view one_of(std::initializer_list<std::string_view> names) {
    return names.begin()[below(names.size())];
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
};

}  // namespace foretrain::test

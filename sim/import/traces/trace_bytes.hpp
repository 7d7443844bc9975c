// The bytes of a trace, piece by piece: plain, or unpacked on the way where they begin as gzip does.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// How much is read at most; beyond these a file is refused. A trace packs 10:1 to 40:1, so what unpacks to
/// 250 times its size is none.
struct TraceLimits {
  std::uint64_t bytes = std::uint64_t{8} << 30;        ///< unpacked
  std::uint64_t ratio = 250;                           ///< unpacked over packed ...
  std::uint64_t ratio_from = std::uint64_t{64} << 20;  ///< ... looked at behind so many unpacked bytes
  std::size_t events = 6'500'000;                      ///< that are kept: below 500 MB
  std::size_t names = 1'000'000;                       ///< different ones
  std::size_t name_bytes = std::size_t{64} << 20;      ///< of all of them
};

/// Needs memory for two pieces, whatever the size of the file. Throws InputError for what is cut short or
/// broken, and above the limits.
class TraceBytes {
 public:
  TraceBytes(std::istream& in, std::string name, const TraceLimits& limits = {});
  ~TraceBytes();
  TraceBytes(const TraceBytes&) = delete;
  TraceBytes& operator=(const TraceBytes&) = delete;

  /// The next bytes, which stay where they are until the next call; empty at the end.
  std::string_view next();
  /// The first few of them, before next() is asked; nothing is used up.
  std::string_view first();
  const std::string& name() const { return name_; }
  std::uint64_t given() const { return given_; }

 private:
  struct Inflater;
  std::string_view plain();
  std::string_view unpacked();
  bool fill();
  void check_sizes() const;
  [[noreturn]] void refuse(std::string message, std::string hint) const;

  std::istream& in_;
  std::string name_;
  TraceLimits limits_;
  std::vector<char> packed_, piece_;
  std::size_t packed_begin_ = 0, packed_end_ = 0;
  std::string_view waiting_;  ///< of first()
  bool has_begun_ = false;
  std::uint64_t taken_ = 0, given_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace foretrain

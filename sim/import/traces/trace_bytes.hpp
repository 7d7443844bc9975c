// Declares the bytes of a trace, piece by piece: as they are, or unpacked on the way where they begin as gzip
// does.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Limits on what is read; a file beyond them is refused. A trace packs 10:1 to 40:1, so a file that unpacks
/// to 250 times its size is none.
struct TraceLimits {
  /// Bytes once unpacked.
  std::uint64_t bytes = std::uint64_t{8} << 30;
  /// Unpacked over packed bytes, checked from `ratio_from` unpacked bytes on.
  std::uint64_t ratio = 250;
  /// See `ratio`.
  std::uint64_t ratio_from = std::uint64_t{64} << 20;
  /// Events that are kept; their memory stays below 500 MB.
  std::size_t events = 6'500'000;
  /// Different names.
  std::size_t names = 1'000'000;
  /// Bytes of all names together.
  std::size_t name_bytes = std::size_t{64} << 20;
};

/// Gives the bytes of a stream. Memory is needed for two pieces, whatever the size of the file. Throws
/// InputError for what is cut short or damaged and above the limits, EnvironmentError where the file cannot
/// be read. `in` must outlive the object.
class TraceBytes {
 public:
  TraceBytes(std::istream& in, std::string name, const TraceLimits& limits = {});
  ~TraceBytes();
  TraceBytes(const TraceBytes&) = delete;
  TraceBytes& operator=(const TraceBytes&) = delete;

  /// Returns the next bytes, which stay valid until the next call; empty at the end.
  std::string_view next();
  /// Returns the first bytes before next() is called; nothing is used up.
  std::string_view first();
  const std::string& name() const { return name_; }
  /// Returns how many bytes next() has given so far.
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
  /// Bytes that first() has shown.
  std::string_view waiting_;
  bool has_begun_ = false;
  std::uint64_t taken_ = 0, given_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace foretrain

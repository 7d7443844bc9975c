// The only file that uses zlib. It unpacks piece by piece, so that a small text that would unpack to
// gigabytes is given up at the limit.
#include "sim/import/accounting/gzip.hpp"

#include <array>

#include <zlib.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

/// Owns a zlib stream and ends it on every way out of the function.
struct Inflater {
  z_stream stream{};
  bool is_ready = false;
  /// 15 is the largest window, in bits; adding 32 makes zlib accept the headers of gzip and of zlib.
  Inflater() : is_ready(inflateInit2(&stream, 15 + 32) == Z_OK) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (is_ready) inflateEnd(&stream);
  }
};

}  // namespace

std::optional<std::string> unpacked_gzip(std::string_view packed, std::size_t most) {
  Inflater inflater;
  if (!inflater.is_ready || packed.size() > most) return std::nullopt;
  // zlib takes no const pointer, so the input is copied.
  std::string input(packed);
  inflater.stream.next_in = reinterpret_cast<Bytef*>(input.data());
  inflater.stream.avail_in = static_cast<uInt>(input.size());
  std::string out;
  std::array<char, 1 << 14> piece{};
  for (int result = Z_OK; result != Z_STREAM_END;) {
    inflater.stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    inflater.stream.avail_out = static_cast<uInt>(piece.size());
    result = inflate(&inflater.stream, Z_NO_FLUSH);
    // Z_BUF_ERROR means that the input ends before the stream does.
    if (result != Z_OK && result != Z_STREAM_END) return std::nullopt;
    out.append(piece.data(), piece.size() - inflater.stream.avail_out);
    if (out.size() > most) return std::nullopt;
  }
  return out;
}

std::uint32_t crc32_of(std::string_view text) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

std::string packed_gzip(std::string_view text) {
  z_stream stream{};
  // Adding 16 to the window makes zlib write the header of gzip. 8 is zlib's default level of memory.
  constexpr int kWindow = 15 + 16, kMemory = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw EnvironmentError("no memory to pack a file with gzip");
  // zlib takes no const pointer, so the input is copied.
  std::string input(text), out;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  std::array<char, 1 << 14> piece{};
  // deflate() returns Z_STREAM_END once everything is written.
  for (int result = Z_OK; result == Z_OK;) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    result = deflate(&stream, Z_FINISH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace foretrain

// The only door to zlib: piece by piece, so that a small text that unpacks to gigabytes is given up early.
#include "sim/import/accounting/gzip.hpp"

#include <array>

#include <zlib.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

/// Ends the stream whatever happens.
struct Inflater {
  z_stream stream{};
  bool is_ready = false;
  /// 32: zlib tells gzip's head from its own; 15: the largest window.
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
  std::string input(packed);  // zlib takes no const
  inflater.stream.next_in = reinterpret_cast<Bytef*>(input.data());
  inflater.stream.avail_in = static_cast<uInt>(input.size());
  std::string out;
  std::array<char, 1 << 14> piece{};
  for (int result = Z_OK; result != Z_STREAM_END;) {
    inflater.stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    inflater.stream.avail_out = static_cast<uInt>(piece.size());
    result = inflate(&inflater.stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END) return std::nullopt;
    out.append(piece.data(), piece.size() - inflater.stream.avail_out);
    if (out.size() > most) return std::nullopt;
  }
  return out;
}

std::string packed_gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kWindow = 15 + 16, kMemory = 8;  // 16: with gzip's head
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw EnvironmentError("no memory to pack a file with gzip");
  std::string input(text), out;  // zlib takes no const
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  std::array<char, 1 << 14> piece{};
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

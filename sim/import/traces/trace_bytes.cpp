// Gives the bytes of a file in pieces, unpacked by zlib where it begins as gzip does. Several members in one
// file follow each other, as gzip's own tools write them.
#include "sim/import/traces/trace_bytes.hpp"

#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

/// Bytes of one piece.
constexpr std::size_t kPiece = std::size_t{1} << 17;

}  // namespace

/// The state of zlib. 15 + 32 asks for the largest window and for the recognition of gzip's header.
struct TraceBytes::Inflater {
  z_stream stream{};
  // Between: the last member has ended.
  bool is_ready = false, is_between = false;
  Inflater() : is_ready(inflateInit2(&stream, 15 + 32) == Z_OK) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (is_ready) inflateEnd(&stream);
  }
};

TraceBytes::TraceBytes(std::istream& in, std::string name, const TraceLimits& limits)
    : in_(in), name_(std::move(name)), limits_(limits), packed_(kPiece) {}

TraceBytes::~TraceBytes() = default;

void TraceBytes::refuse(std::string message, std::string hint) const {
  throw InputError(std::vector<Diagnostic>{{name_, {}, "", std::move(message), std::move(hint)}});
}

/// Fetches the next piece of the file; false at its end.
bool TraceBytes::fill() {
  in_.read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
  packed_begin_ = 0;
  packed_end_ = static_cast<std::size_t>(in_.gcount());
  taken_ += packed_end_;
  if (in_.bad()) throw EnvironmentError(name_ + ": cannot be read");
  return packed_end_ > 0;
}

/// Checks the limits on what was unpacked. The ratio is looked at only for large amounts, because a short
/// file of one repeated value packs well.
void TraceBytes::check_sizes() const {
  if (given_ > limits_.bytes)
    refuse(fmt::format("holds more than {} GiB", limits_.bytes >> 30),
           "record fewer steps: a schedule with active=3 is enough");
  if (inflater_ && given_ > limits_.ratio_from && given_ / limits_.ratio > taken_)
    refuse(fmt::format("unpacks to more than {} times its size, which no trace does", limits_.ratio),
           "is it a trace? Unpack it and look");
}

/// Returns the next bytes of a file that is not packed.
std::string_view TraceBytes::plain() {
  if (packed_begin_ == packed_end_ && !fill()) return {};
  const std::string_view piece(packed_.data() + packed_begin_, packed_end_ - packed_begin_);
  packed_begin_ = packed_end_;
  return piece;
}

/// Returns the next unpacked bytes. zlib may need several pieces before it gives any.
std::string_view TraceBytes::unpacked() {
  z_stream& stream = inflater_->stream;
  while (true) {
    if (packed_begin_ == packed_end_ && !fill()) {
      if (inflater_->is_between) return {};
      refuse("ends in the middle of its packed data", "it was cut short: write or copy it again");
    }
    // More bytes behind the end of a member begin the next one.
    if (std::exchange(inflater_->is_between, false)) inflateReset(&stream);
    stream.next_in = reinterpret_cast<Bytef*>(packed_.data() + packed_begin_);
    stream.avail_in = static_cast<uInt>(packed_end_ - packed_begin_);
    stream.next_out = reinterpret_cast<Bytef*>(piece_.data());
    stream.avail_out = static_cast<uInt>(piece_.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    packed_begin_ = packed_end_ - stream.avail_in;
    if (result == Z_STREAM_END)
      inflater_->is_between = true;
    else if (result != Z_OK && result != Z_BUF_ERROR)
      refuse("is not what gzip packs, or is damaged", "write or copy it again");
    const std::size_t size = piece_.size() - stream.avail_out;
    if (size > 0) return {piece_.data(), size};
  }
}

/// The kind of the file is decided by its first two bytes, 1f 8b for gzip.
std::string_view TraceBytes::first() {
  if (std::exchange(has_begun_, true)) return waiting_;
  fill();
  const bool packed = packed_end_ > 1 && packed_[0] == '\x1f' && packed_[1] == '\x8b';
  if (packed) {
    inflater_ = std::make_unique<Inflater>();
    if (!inflater_->is_ready) throw EnvironmentError("zlib cannot be used");
    piece_.resize(kPiece);
  }
  waiting_ = packed ? unpacked() : plain();
  return waiting_;
}

/// Bytes that first() has shown are given here again.
std::string_view TraceBytes::next() {
  if (!has_begun_) first();
  std::string_view piece = std::exchange(waiting_, {});
  if (piece.empty()) piece = inflater_ ? unpacked() : plain();
  given_ += piece.size();
  check_sizes();
  return piece;
}

}  // namespace foretrain

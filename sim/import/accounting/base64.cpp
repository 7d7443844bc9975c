// Decodes base64. Boost's iterators regroup the bits; they throw on foreign characters, so the text is
// checked before they see it.
#include <cstring>

#include <boost/archive/iterators/binary_from_base64.hpp>
#include <boost/archive/iterators/transform_width.hpp>

#include "sim/import/accounting/job_sheet.hpp"

namespace foretrain {

std::optional<std::string> decoded_base64(std::string_view text) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  // The padding is at most two "=", and they stand at the end. A remainder of one character cannot hold a
  // byte.
  const std::size_t end = std::min(text.find('='), text.size());
  if (text.size() - end > 2 || text.find_first_not_of('=', end) != std::string_view::npos)
    return std::nullopt;
  std::string signs(text.substr(0, end));
  if (signs.size() % 4 == 1 || signs.find_first_not_of(alphabet) != std::string::npos) return std::nullopt;
  const std::size_t bytes = signs.size() * 3 / 4;
  // The iterators read groups of four characters. The zeros of the padding lie behind the last byte that is
  // read.
  signs.append((4 - signs.size() % 4) % 4, 'A');
  using namespace boost::archive::iterators;
  using Decoder = transform_width<binary_from_base64<const char*>, 8, 6>;
  std::string out;
  out.reserve(bytes);
  Decoder place(static_cast<const char*>(signs.data()));
  for (std::size_t i = 0; i < bytes; ++i, ++place) out.push_back(static_cast<char>(*place));
  return out;
}

}  // namespace foretrain

// Makes tokens from getrandom(2), and compares them in constant time. A token protects the page of `serve`
// from other users of the same machine.
#include "sim/app/web/access_token.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>
#include <sys/random.h>

#include "sim/base/ascii.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain {

// A token has 128 random bits and is spelled with 32 hexadecimal digits, which need no escape in an address.
std::string new_access_token() {
  std::array<std::uint8_t, 16> bytes{};
  ssize_t got = 0;
  do got = ::getrandom(bytes.data(), bytes.size(), 0);
  while (got < 0 && errno == EINTR);
  // A short read is treated like an error: a token with fewer random bits would be guessable.
  if (got != static_cast<ssize_t>(bytes.size()))
    throw EnvironmentError(
        fmt::format("no random number can be had: {}", std::generic_category().message(errno)));
  std::string out;
  for (const std::uint8_t byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

// Every character is compared, so that the time does not depend on where the first difference is. An empty
// secret never matches.
bool is_same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size() || secret.empty()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < secret.size(); ++i)
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i]));
  return difference == 0;
}

// A header is a list of name=value pairs, separated by semicolons.
std::string_view cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    const std::string_view pair = trimmed(header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
  }
  return {};
}

}  // namespace foretrain

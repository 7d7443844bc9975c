// A version is two or three numbers with dots between them. The build number of a package after a dash is
// ignored.
#include "sim/collective/nccl/version.hpp"

#include <charconv>

#include <fmt/format.h>

namespace foretrain::nccl {

namespace {

/// Patch number of a version without a patch.
constexpr int kAnyPatch = 99;

/// Takes a number of up to four digits from the front of the text.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || value < 0 || value > 9999) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return value;
}

/// Takes the expected character from the front of the text.
bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<Version> parse_version(std::string_view text) {
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) text = text.substr(0, dash);
  const std::optional<int> major = take_number(text);
  if (!major || !take(text, '.')) return std::nullopt;
  const std::optional<int> minor = take_number(text);
  if (!minor) return std::nullopt;
  if (text.empty() || text == ".x") return Version{*major, *minor, kAnyPatch};
  if (!take(text, '.')) return std::nullopt;
  const std::optional<int> patch = take_number(text);
  if (!patch || !text.empty()) return std::nullopt;
  return Version{*major, *minor, *patch};
}

std::string to_text(const Version& version) {
  if (version.patch == kAnyPatch) return fmt::format("{}.{}", version.major, version.minor);
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace foretrain::nccl

// Writes the origin of a page: command line, version and date.
#include "sim/app/pages/page_origin.hpp"

#include <array>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "sim/scenario/catalog_dates.hpp"

namespace foretrain {

namespace {

// Characters of words that a shell takes as they stand.
constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";

/// Puts a word into single quotes when a shell would split or change it.
std::string quoted(std::string_view word) {
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string command_text(int argc, char** argv) {
  std::string out = "foretrain";
  for (int i = 1; i < argc; ++i) out += " " + quoted(argv[i]);
  return out;
}

std::string version_text() {
  const std::string date = catalogs_date();
  return "foretrain " FORETRAIN_VERSION + (date.empty() ? "" : ", catalogs of " + date);
}

// SOURCE_DATE_EPOCH makes pages reproducible: the same input then gives the same file.
std::string date_of_today() {
  const char* fixed = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = fixed != nullptr ? std::strtoll(fixed, nullptr, 10) : std::time(nullptr);
  std::tm day{};
  std::array<char, 16> text{};
  if (gmtime_r(&now, &day) == nullptr) return "";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &day)};
}

}  // namespace foretrain

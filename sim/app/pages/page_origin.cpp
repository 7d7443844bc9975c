// Words that a shell takes as they stand need no quotes.
#include "sim/app/pages/page_origin.hpp"

#include <array>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "sim/scenario/catalog_dates.hpp"

namespace foretrain {

namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";

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

std::string date_of_today() {
  const char* fixed = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = fixed != nullptr ? std::strtoll(fixed, nullptr, 10) : std::time(nullptr);
  std::tm day{};
  std::array<char, 16> text{};
  if (gmtime_r(&now, &day) == nullptr) return "";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &day)};
}

}  // namespace foretrain

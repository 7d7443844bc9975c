// Writes the origin of a page: command line, version and date.
#include "sim/app/pages/page_origin.hpp"

#include <array>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "sim/base/shell_word.hpp"
#include "sim/scenario/catalog_dates.hpp"

namespace foretrain {

std::string command_text(int argc, char** argv) {
  std::string out = "foretrain";
  for (int i = 1; i < argc; ++i) out += " " + shell_word(argv[i]);
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

// Writes the page of --html: puts JSON where the template has its mark, and changes nothing else.
#include "sim/report/page/page.hpp"

#include <stdexcept>

#include "sim/import/accounting/gzip.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

// Placeholder in the template, and largest size of the unpacked template in bytes.
constexpr std::string_view kMark = "{\"foretrain\":\"data\"}";
constexpr std::size_t kLargestTemplate = std::size_t{4} << 20;

/// Returns JSON that may stand inside a script element: no character can end the element.
std::string island(const Json& data) {
  std::string out;
  for (const char c : data.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      case '\x7f':
        out += "\\u007f";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

// The reports are parsed and written again as one compact object.
std::string write_page(const PageContent& content) {
  Json data{
      {"schema", "foretrain.page/1"},
      {"kind", std::string(content.kind)},
      {"made",
       {{"command", content.made.command}, {"version", content.made.version}, {"date", content.made.date}}}};
  Json reports = Json::array();
  for (const std::string& report : content.reports) reports.push_back(Json::parse(report));
  data["reports"] = std::move(reports);
  data["details"] = Json::array();
  for (const std::string& details : content.details) data["details"].push_back(Json::parse(details));
  std::string page = unpacked_gzip(packed_page(), kLargestTemplate).value_or("");
  const std::size_t place = page.find(kMark);
  // The template is part of the program, so a missing mark is a mistake of the build.
  if (place == std::string::npos) throw std::logic_error("the template of the page has no place for data");
  return page.replace(place, kMark.size(), island(data));
}

}  // namespace foretrain

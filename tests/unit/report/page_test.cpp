// The page of --html: one island that holds whatever names there are, and nothing that leads elsewhere.
#include "sim/report/page/page.hpp"

#include "sim/report/json_value.hpp"
#include "tests/support/catch.hpp"

namespace page_test {

using namespace foretrain;

namespace {

constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"data\">";

std::string island_of(const std::string& page) {
  const std::size_t begin = page.find(kBegin) + kBegin.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

std::string page_with(const std::string& name) {
  const Json report{{"schema", "foretrain.prediction/1"}, {"scenario", name}};
  return write_page(
      {"prediction", {report.dump()}, {Json{{"scenario", name}}.dump()}, {name, "0", "2026-01-01"}});
}

}  // namespace

TEST_CASE("a page is one file with one island and no address of the network that is asked for") {
  const std::string page = page_with("plain");
  CHECK(page.size() < 1'500'000);
  CHECK(page.find(kBegin) == page.rfind(kBegin));
  CHECK(page.find("src=\"http") == std::string::npos);
  CHECK(page.find("href=\"http") == std::string::npos);
  CHECK(page.find("default-src 'none'") != std::string::npos);
  const Json data = Json::parse(island_of(page));
  CHECK(data["schema"] == "foretrain.page/1");
  CHECK(data["made"]["date"] == "2026-01-01");
}

TEST_CASE("names in a page come back as they were and are nothing else") {
  for (const std::string& name :
       {std::string("</script><script>alert(1)</script>"), std::string("\" onload='x' &lt; <!--"),
        std::string("\xe2\x80\xae reversed \xe2\x80\xa8 \x7f \x01"), std::string(10'000, 'x')}) {
    const std::string island = island_of(page_with(name));
    CHECK(island.find_first_of("<>&\x7f") == std::string::npos);
    CHECK(std::ranges::all_of(island, [](char c) { return c >= ' ' && c <= '~'; }));
    const Json data = Json::parse(island);
    CHECK(data["reports"][0]["scenario"] == name);
    CHECK(data["details"][0]["scenario"] == name);
    CHECK(data["made"]["command"] == name);
  }
}

TEST_CASE("a page takes bytes that are no text") {
  const Json data = Json::parse(island_of(write_page({"study", {"{}"}, {}, {"\xff\xfe", "", ""}})));
  CHECK(data["made"]["command"] == "\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace page_test

// A document written as TOML reads as the same document, for every file of the catalogs and for what is hard
// to quote.
#include "sim/scenario/toml/toml_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace toml_text_test {

using namespace foretrain;

namespace {

Table parsed(const SourceText& source) {
  Diagnostics diagnostics(source);
  Table table = parse_toml(source, diagnostics, kLargestModelText);
  diagnostics.throw_if_any();
  return table;
}

bool same(const Table& a, const Table& b);

bool same(const Value& a, const Value& b) {
  if (a.data.index() != b.data.index()) return false;
  if (const auto* table = std::get_if<Table>(&a.data)) return same(*table, std::get<Table>(b.data));
  if (const auto* array = std::get_if<Array>(&a.data))
    return std::ranges::equal(*array, std::get<Array>(b.data),
                              [](const Value& x, const Value& y) { return same(x, y); });
  if (const auto* real = std::get_if<double>(&a.data)) {
    const double other = std::get<double>(b.data);
    return *real == other || (std::isnan(*real) && std::isnan(other));
  }
  if (const auto* text = std::get_if<std::string>(&a.data)) return *text == std::get<std::string>(b.data);
  if (const auto* number = std::get_if<std::int64_t>(&a.data))
    return *number == std::get<std::int64_t>(b.data);
  if (const auto* flag = std::get_if<bool>(&a.data)) return *flag == std::get<bool>(b.data);
  return true;
}

/// Places and the order of keys are no part of a document.
bool same(const Table& a, const Table& b) {
  return a.entries.size() == b.entries.size() && std::ranges::all_of(a.entries, [&b](const Entry& entry) {
           const Entry* other = b.find(entry.key);
           return other != nullptr && same(entry.value, other->value);
         });
}

std::string written(const std::string& text) { return toml_text(parsed({"t.toml", text})); }

}  // namespace

TEST_CASE("law: every file of the catalogs is the same document when it was written and read again") {
  test::use_source_catalogs();
  int files = 0;
  for (const CatalogKind kind : {CatalogKind::models, CatalogKind::clusters, CatalogKind::gpus,
                                 CatalogKind::links, CatalogKind::scenarios, CatalogKind::nodes,
                                 CatalogKind::transports, CatalogKind::datasets, CatalogKind::calibrations}) {
    for (const std::string& name : names_in(kind)) {
      const Table document = parsed(*open_named(kind, name));
      INFO(noun_of(kind) << " " << name);
      CHECK(same(document, parsed({"again.toml", toml_text(document)})));
      ++files;
    }
  }
  CHECK(files > 200);
}

TEST_CASE("values come first, then tables under their headers, and those in arrays inline") {
  CHECK(written("[b.c]\nx = 1\n[b]\ny = [ { z = 2 }, {} ]\n[a]\n") ==
        "[b]\ny = [{ z = 2 }, {}]\n\n[b.c]\nx = 1\n\n[a]\n");
  CHECK(written("t = { u = { v = 1 } }\nw = 2") == "w = 2\n\n[t.u]\nv = 1\n");
  CHECK(written("") == "");
}

TEST_CASE("a float stays a float, a text stays a text") {
  CHECK(written("a = 1.0\nb = 1e22\nc = -0.0\nd = inf\ne = -inf\nf = nan\ng = 0.1\nh = 1e5") ==
        "a = 1.0\nb = 1e+22\nc = -0.0\nd = inf\ne = -inf\nf = nan\ng = 0.1\nh = 100000.0\n");
  CHECK(written("a = \"1\"\nb = 1\nc = true\nd = \"true\"") == "a = \"1\"\nb = 1\nc = true\nd = \"true\"\n");
  CHECK(written("a = 0x10\nb = 1_000") == "a = 16\nb = 1000\n");
}

TEST_CASE("quotes, backslashes and other scripts come back as they were") {
  Table document;
  std::string all;
  for (int code = 32; code < 127; ++code) all += static_cast<char>(code);
  for (const std::string& text :
       {all, std::string("\\u0041 \" ''' \"\"\""), std::string("\xc3\xa4 \xf0\x9f\x9a\x80"),
        std::string("] [x"), std::string()}) {
    document.entries.push_back({"key " + text, {}, {text, {}}});
    Table inner;
    inner.entries.push_back({text, {}, {text, {}}});
    document.entries.push_back({"table " + text, {}, {inner, {}}});
  }
  CHECK(same(document, parsed({"t.toml", toml_text(document)})));
}

TEST_CASE("the file of a scenario with options asks the same as the scenario and the options") {
  test::use_source_catalogs();
  const SourceText source = *open_named(CatalogKind::scenarios, "mahti-resnet50-ddp");
  ScenarioOverrides overrides;
  overrides.gpus = {1, 8};
  overrides.batch = 48;
  overrides.strategy = "horovod";
  overrides.settings = {"strategy.cycle_time=2 ms", "run.every.validation.epochs=2"};
  const std::string text = scenario_file_of(source, overrides);
  const Scenario asked = read_scenario(source, overrides), again = read_scenario({"again.toml", text}, {});
  CHECK(again.gpus == asked.gpus);
  CHECK(again.workload.batch_per_gpu == 48);
  CHECK(again.strategy == "horovod");
  CHECK(again.cluster.name == asked.cluster.name);
  CHECK(again.periodic.size() == asked.periodic.size());
  // Written once more it does not change.
  CHECK(scenario_file_of({"again.toml", text}, {}) == text);
}

TEST_CASE("a file is written of the command line alone") {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.model = "resnet50";
  overrides.cluster = "mahti";
  overrides.gpus = {1, 4};
  overrides.batch = 16;
  const Scenario again = read_scenario({"again.toml", scenario_file_of({}, overrides)}, {});
  CHECK(again.model.name == "resnet50");
  CHECK(again.cluster.name == "mahti");
  CHECK(again.gpus == std::vector<int>{1, 4});
  CHECK(again.workload.batch_per_gpu == 16);
}

}  // namespace toml_text_test

// The table reader: what each getter takes, what it refuses, and which keys are left over at the end.
#include "sim/scenario/toml/table_reader.hpp"

#include <fmt/format.h>

#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"

namespace table_reader_test {

using namespace foretrain;

namespace {

/// One document with its reader.
struct Document {
  explicit Document(std::string text)
      : source{"t.toml", std::move(text)},
        diagnostics(source),
        table(parse_toml(source, diagnostics)),
        reader(table, "", diagnostics) {}
  std::string errors() const { return format(diagnostics.found()); }
  SourceText source;
  Diagnostics diagnostics;
  Table table;
  TableReader reader;
};

}  // namespace

TEST_CASE("getters return the value, or nothing for a missing key without complaint") {
  Document d(
      "i = 3\nx = 2.5\ns = \"abc\"\nb = true\nt = \"2.5 us\"\nz = \"25 MiB\"\nr = \"400 Gbps\"\nf = \"312 "
      "TFLOPs\"\n");
  CHECK(d.reader.integer("i", 0, 10) == 3);
  CHECK(d.reader.number("x", 0, 10) == 2.5);
  CHECK(d.reader.number("i", 0, 10) == 3.0);
  CHECK(d.reader.string("s") == "abc");
  CHECK(d.reader.boolean("b") == true);
  CHECK(d.reader.time("t") == Time{2'500'000});
  CHECK(d.reader.bytes("z") == Bytes{25 << 20});
  CHECK(d.reader.byte_rate("r")->per_second == 50e9);  // 400e9 bit / 8
  CHECK(d.reader.flop_rate("f")->per_second == 312e12);
  CHECK(d.reader.integer("none", 0, 10) == std::nullopt);
  CHECK(d.reader.time("none") == std::nullopt);
  d.reader.finish();
  CHECK(d.errors().empty());
}

TEST_CASE("the ends of a range belong to it") {
  Document d("a = 1\nb = 10\nc = 11\nd = 0\n");
  CHECK(d.reader.integer("a", 1, 10) == 1);
  CHECK(d.reader.integer("b", 1, 10) == 10);
  CHECK(d.reader.integer("c", 1, 10) == std::nullopt);
  CHECK(d.reader.integer("d", 1, 10) == std::nullopt);
  CHECK_THAT(d.errors(), ContainsSubstring("t.toml:3:5: error: c must be an integer from 1 to 10") &&
                             ContainsSubstring("2 errors"));
}

TEST_CASE("an integer is not made out of a float, a string or a boolean") {
  Document d("a = 1.0\nb = \"1\"\nc = true\n");
  for (const char* key : {"a", "b", "c"}) CHECK(d.reader.integer(key, 0, 10) == std::nullopt);
  CHECK_THAT(d.errors(), ContainsSubstring("3 errors"));
}

TEST_CASE("numbers refuse NaN and infinity") {
  Document d("a = nan\nb = inf\nc = -inf\n");
  for (const char* key : {"a", "b", "c"}) CHECK(d.reader.number(key, -1e300, 1e300) == std::nullopt);
  CHECK_THAT(d.errors(), ContainsSubstring("3 errors"));
}

TEST_CASE("a bare number for a bandwidth shows the spelling") {
  Document d("[link]\nbandwidth = 25\n");
  TableReader link(*d.reader.table("link"), "link", d.diagnostics);
  CHECK(link.byte_rate("bandwidth") == std::nullopt);
  CHECK(d.errors() ==
        "t.toml:2:13: error: link.bandwidth is a bandwidth and needs its unit, as in \"25 GBps\"\n"
        "  2 | bandwidth = 25\n"
        "    |             ^^\n");
}

TEST_CASE("nothing needs no unit") {
  Document d("size = 0\nwait = 0.0\nrate = 3\n");
  CHECK(d.reader.bytes("size") == Bytes{0});
  CHECK(d.reader.time("wait") == Time::zero());
  CHECK(d.reader.byte_rate("rate") == std::nullopt);
  CHECK_THAT(d.errors(), ContainsSubstring("rate is a bandwidth and needs its unit"));
}

TEST_CASE("lists check every element and their length") {
  Document d("a = [1, 0, 3, \"x\"]\nb = [1, 2, 3]\nc = [\"x\", \"y\"]\nd = [\"x\", 1]\n");
  CHECK(d.reader.integers("a", 1, 9, 10) == std::nullopt);
  CHECK(d.reader.integers("b", 1, 9, 3) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(d.reader.integers("b", 1, 9, 2) == std::nullopt);
  CHECK(d.reader.strings("c", 2) == std::vector<std::string>{"x", "y"});
  CHECK(d.reader.strings("d", 2) == std::nullopt);
  CHECK_THAT(d.errors(), ContainsSubstring("t.toml:1:9: error: a must hold integers from 1 to 9"));
  CHECK_THAT(d.errors(), ContainsSubstring("t.toml:1:15: error: a must hold integers from 1 to 9"));
  CHECK_THAT(d.errors(), ContainsSubstring("t.toml:2:5: error: b has 3 entries, at most 2 are allowed"));
  CHECK_THAT(d.errors(),
             ContainsSubstring("t.toml:4:11: error: d must hold strings") && ContainsSubstring("4 errors"));
}

TEST_CASE("a choice offers the nearest name, or all of them") {
  Document d("a = \"pakced\"\nb = \"zzzzz\"\n");
  CHECK(d.reader.one_of("a", {"packed", "spread"}) == std::nullopt);
  CHECK(d.reader.one_of("b", {"packed", "spread"}) == std::nullopt);
  CHECK_THAT(d.errors(),
             ContainsSubstring("did you mean \"packed\"?") && ContainsSubstring("known: packed, spread"));
}

TEST_CASE("every key that nobody asked for is reported once, at the key") {
  Document d("known = 1\nknwon = 2\nother = 3\n");
  d.reader.integer("known", 0, 9);
  d.reader.finish();
  CHECK(d.errors() ==
        "t.toml:2:1: error: unknown key \"knwon\"\n"
        "  2 | knwon = 2\n"
        "    | ^^^^^\n"
        "  hint: did you mean \"known\"?\n"
        "t.toml:3:1: error: unknown key \"other\"\n"
        "  3 | other = 3\n"
        "    | ^^^^^\n"
        "  hint: known: known\n"
        "2 errors\n");
}

TEST_CASE("a required key is reported at its table, unless a broken line may have held it") {
  Document whole("[gpu]\ncores = 1\n"), broken("[gpu]\nname = \n");
  TableReader(*whole.reader.table("gpu"), "gpu", whole.diagnostics).require("name", "\"v100\"");
  TableReader(*broken.reader.table("gpu"), "gpu", broken.diagnostics).require("name", "\"v100\"");
  CHECK(whole.errors() ==
        "t.toml:1:1: error: gpu.name is missing\n"
        "  1 | [gpu]\n"
        "    | ^^^^^\n"
        "  hint: add name = \"v100\"\n");
  CHECK_THAT(broken.errors(), !ContainsSubstring("missing"));
}

TEST_CASE("half a million unknown keys are answered with the first fifty, at once") {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += fmt::format("k{}=1\n", i);
  Document d(text);
  d.reader.finish();
  CHECK(d.diagnostics.found().size() == Diagnostics::kMostDiagnostics);
}

TEST_CASE("a text is one line, unless lines are asked for") {
  Document d("a = \"x\\ny\"\nb = \"x\\r\\ny\"\nc = [\"x\", \"x\\ny\"]\nd = 3\n");
  CHECK(d.reader.string("a") == std::nullopt);
  CHECK(d.reader.lines("a") == "x\ny");
  CHECK(d.reader.lines("b") == "x\ny");
  CHECK(d.reader.strings("c", 9) == std::nullopt);
  CHECK(d.reader.lines("d") == std::nullopt);
  CHECK_THAT(d.errors(), ContainsSubstring("t.toml:1:5: error: a must be one line of text") &&
                             ContainsSubstring("t.toml:3:11: error: c must be one line of text") &&
                             ContainsSubstring("t.toml:4:5: error: d must be a string, not an integer"));
}

}  // namespace table_reader_test

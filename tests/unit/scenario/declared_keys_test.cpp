// Declared keys: one row reads the value, says what it takes, and asks for what must be given.
#include "sim/scenario/toml/declared_keys.hpp"

#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"

namespace declared_keys_test {

using namespace foretrain;

namespace {

enum class Colour : std::uint8_t { red, green };

struct Inner {
  std::optional<int> count{};
  Time wait{};
};
struct Outer {
  Inner inner{};
  Colour colour = Colour::red;
  bool loud = false;
};

const Keys<Outer>& keys() {
  static const Keys<Inner> inner{
      {"count", takes::integer<&Inner::count>(1, 5), "3", kRequired, "how many"},
      {"wait", takes::longer_time<&Inner::wait>(), "\"1 s\"", "none", "how long"},
  };
  static const Keys<Outer> all =
      keys_within<Outer>(inner, [](Outer& outer) -> Inner& { return outer.inner; }) +
      Keys<Outer>{
          {"colour",
           takes::choice<&Outer::colour>(
               std::vector<Choice<Colour>>{{"red", Colour::red}, {"green", Colour::green}}),
           "\"red\"", "red", "of the paint"},
          {"loud", takes::flag<&Outer::loud>(), "true", "false", "to be heard"},
      };
  return all;
}

std::string read(const std::string& text, Outer& out) {
  const SourceText source{"t.toml", text};
  Diagnostics diagnostics(source);
  const Table table = parse_toml(source, diagnostics);
  TableReader reader(table, "", diagnostics);
  read_keys(reader, keys(), out);
  reader.finish();
  return format(diagnostics.found());
}

}  // namespace

TEST_CASE("a declared key goes into the member its row names, also inside a part") {
  Outer out;
  CHECK(read("count = 4\nwait = \"2 s\"\ncolour = \"green\"\nloud = true\n", out).empty());
  CHECK(out.inner.count == 4);
  CHECK(out.inner.wait == seconds(2));
  CHECK(out.colour == Colour::green);
  CHECK(out.loud);
}

TEST_CASE("a declared key that is missing changes nothing, but one that is required is asked for") {
  Outer out{{3, seconds(1)}, Colour::green, true};
  CHECK_THAT(read("", out), ContainsSubstring("count is missing") && ContainsSubstring("add count = 3"));
  CHECK(out.inner.count == 3);
  CHECK(out.colour == Colour::green);
}

TEST_CASE("a declared key's range, names and spelling are those of its row") {
  Outer out;
  const std::string errors = read("count = 6\nwait = \"0 s\"\ncolour = \"gren\"\nlout = true\n", out);
  CHECK_THAT(errors, ContainsSubstring("t.toml:1:9: error: count must be an integer from 1 to 5"));
  CHECK_THAT(errors, ContainsSubstring("wait must be longer than zero"));
  CHECK_THAT(errors, ContainsSubstring("did you mean \"green\" or"));
  CHECK_THAT(errors, ContainsSubstring("unknown key \"lout\"") && ContainsSubstring("\"loud\""));
}

TEST_CASE("a declared key says in words what it takes") {
  std::vector<std::string> kinds;
  for (const Key<Outer>& key : keys()) kinds.push_back(key.takes.kind);
  CHECK(kinds == std::vector<std::string>{"integer", "time", "red, green", "true, false"});
}

}  // namespace declared_keys_test

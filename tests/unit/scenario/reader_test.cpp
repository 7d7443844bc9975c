// The reader: values with places, recovery after syntax errors, and refusal of what is no TOML text or would
// cost too much.
#include "sim/scenario/toml/reader.hpp"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "tests/support/catch.hpp"

namespace reader_test {

using namespace foretrain;

namespace {

struct Parsed {
  Table table;
  std::string errors;
};

Parsed parse(const std::string& text) {
  const SourceText source{"t.toml", text};
  Diagnostics diagnostics(source);
  Table table = parse_toml(source, diagnostics);
  return {std::move(table), format(diagnostics.found())};
}

const Value& value_of(const Table& table, std::string_view key) {
  const Entry* entry = table.find(key);
  REQUIRE(entry != nullptr);
  return entry->value;
}

const Table& table_of(const Table& table, std::string_view key) {
  return std::get<Table>(value_of(table, key).data);
}

/// A file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : path_((std::filesystem::temp_directory_path() /
               ("foretrain_reader_" + std::to_string(::getpid()) + name))
                  .string()) {}
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }

 private:
  std::string path_;
};

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += part;
  return out;
}

}  // namespace

TEST_CASE("every kind of value keeps its kind and its place") {
  const auto [table, errors] = parse("a = 1\nb = 2.5\n  c = \"x\"\nd = [1, 22]\ne = { f = true }\n");
  CHECK(errors.empty());
  CHECK(std::get<std::int64_t>(value_of(table, "a").data) == 1);
  CHECK(std::get<double>(value_of(table, "b").data) == 2.5);
  CHECK(std::get<std::string>(value_of(table, "c").data) == "x");
  CHECK(value_of(table, "c").span == SourceSpan{3, 7, 3});
  CHECK(table.find("c")->key_span == SourceSpan{3, 3, 1});
  CHECK(std::get<Array>(value_of(table, "d").data)[1].span == SourceSpan{4, 9, 2});
  CHECK(value_of(table_of(table, "e"), "f").span == SourceSpan{5, 11, 4});
  CHECK(kind_of(value_of(table, "e")) == "a table");
}

TEST_CASE("tables keep the order of the text, not that of the alphabet") {
  const auto [table, errors] = parse("[zebra]\n[ant]\n[mule]\nz = 1\na = 2\n");
  REQUIRE(table.entries.size() == 3);
  CHECK(table.entries[0].key == "zebra");
  CHECK(table.entries[1].key == "ant");
  CHECK(table_of(table, "mule").entries[0].key == "z");
}

TEST_CASE("a column counts bytes, so letters beyond ASCII move it by more than one") {
  // "ö" takes two bytes: b stands in column 1 + 12 = 13 in characters, 14 in bytes
  const auto [table, errors] = parse("a = { o=\"ö\", b = 1 }\n");
  CHECK(errors.empty());
  CHECK(table_of(table, "a").find("b")->key_span == SourceSpan{1, 15, 1});
}

TEST_CASE("lines may end as on Windows") {
  const auto [table, errors] = parse("a = 1\r\nb = [1,\r\n 2]\r\n");
  CHECK(errors.empty());
  CHECK(value_of(table, "b").span == SourceSpan{2, 5, 3});
}

TEST_CASE("after a syntax error the later ones are reported too, and the good lines are still read") {
  const auto [table, errors] = parse("a = \nb = 2\nc = \"x\nd = [1, 2\ne = 5\n");
  CHECK(errors ==
        "t.toml:1:5: error: cannot read key-value pair: expected value, saw '\\n'\n"
        "  1 | a = \n"
        "    |     ^\n"
        "t.toml:3:7: error: the string does not end on its line\n"
        "  3 | c = \"x\n"
        "    |       ^\n"
        "t.toml:5:1: error: cannot read array: expected comma or closing ']', saw 'e'\n"
        "  5 | e = 5\n"
        "    | ^\n"
        "3 errors\n");
  CHECK(table.damaged);
  CHECK(table.entries.size() == 2);
  CHECK(std::get<std::int64_t>(value_of(table, "e").data) == 5);
}

TEST_CASE("keys below a broken header do not fall into the table before") {
  const auto [table, errors] = parse("[run]\nepochs = 1\n[model\nname = \"x\"\n[data]\nsamples = 3\n");
  CHECK_THAT(errors, ContainsSubstring("t.toml:3:7: error: cannot read table header"));
  CHECK(table.entries.size() == 2);
  CHECK(table_of(table, "run").entries.size() == 1);
  CHECK(table_of(table, "data").entries.size() == 1);
}

TEST_CASE("at most twenty syntax errors are reported") {
  const std::string errors = parse(repeated("= 1\n", 100)).errors;
  CHECK_THAT(errors, ContainsSubstring("20 errors"));
}

TEST_CASE("a list that never ends is one mistake") {
  const std::string errors = parse("a = 1\nb = [1,\n2,\n3,\n").errors;
  CHECK_THAT(errors, ContainsSubstring("encountered end-of-file"));
  CHECK_THAT(errors, !ContainsSubstring("errors"));
}

TEST_CASE("texts that the parser package once died of are ordinary mistakes") {
  // found by fuzzing; kept in tests/fuzz/corpus as crash_*
  CHECK_THAT(parse("[\n").errors, ContainsSubstring("t.toml:1:2: error: cannot read key"));
  CHECK_THAT(parse("a = [{ b = 1 }, }\n").errors, ContainsSubstring("t.toml:1:17: error: cannot read "));
  CHECK_THAT(parse("l\xef\xbb\xbfr= s 2 1").errors, ContainsSubstring("t.toml:1:2: error: "));
  CHECK_THAT(parse("größe = 1\n").errors, ContainsSubstring("t.toml:1:3: error: "));
}

TEST_CASE("dates are refused where they stand") {
  CHECK_THAT(parse("a = 2026-01-01\n").errors,
             ContainsSubstring("t.toml:1:5: error: dates and times of day are not used here"));
}

TEST_CASE("binary texts are refused as a whole") {
  CHECK(parse(std::string("a = 1\0", 6)).errors == "t.toml: error: not a text file\n");
  CHECK(parse("a = \"\xff\xfe\"").errors == "t.toml: error: not a text file\n");
  CHECK(parse("a = \"\xc0\xaf\"").errors == "t.toml: error: not a text file\n");      // overlong '/'
  CHECK(parse("a = \"\xed\xa0\x80\"").errors == "t.toml: error: not a text file\n");  // half a surrogate pair
  CHECK(parse("a = \"\xf5\x80\x80\x80\"").errors == "t.toml: error: not a text file\n");  // beyond U+10FFFF
  CHECK(parse("a = \"\xf0\x9f\x9a\x80\"").errors.empty());                                // a rocket
}

TEST_CASE("nesting over 64 is refused before parsing, 64 is not") {
  CHECK(parse(joined({"a = ", repeated("[", 60), repeated("]", 60)})).errors.empty());
  CHECK_THAT(parse(joined({"a = ", repeated("[", 65)})).errors,
             ContainsSubstring("t.toml:1:69: error: nested more than 64 deep"));
  CHECK_THAT(parse(joined({"a", repeated(".a", 65), " = 1"})).errors,
             ContainsSubstring("nested more than 64 deep"));
  CHECK_THAT(parse(joined({"[a", repeated(".a", 65), "]"})).errors,
             ContainsSubstring("nested more than 64 deep"));
}

TEST_CASE("brackets and dots in strings and comments do not count as nesting") {
  const std::string many = repeated("[.", 200);
  CHECK(
      parse(joined({"a = \"", many, "\"\nb = '", many, "'\n# ", many, "\nc = \"\"\"\n", many, "\n\"\"\"\n"}))
          .errors.empty());
}

TEST_CASE("hostile texts of the largest size are read to their end") {
  const int half = static_cast<int>(kLargestText / 2) - 16;
  parse(joined({"a = [", repeated("1,", half), "]"}));
  CHECK_THAT(parse(repeated("[a.b]\n", 600'000)).errors, ContainsSubstring("error"));
  CHECK_THAT(parse(repeated("a = [\n", 600'000)).errors, ContainsSubstring("nested"));
  parse(repeated("= 1\n", 900'000));
}

TEST_CASE("a text over the limit is refused before parsing") {
  CHECK(parse(std::string(kLargestText + 1, '#')).errors == "t.toml: error: is larger than 4194304 bytes\n");
  CHECK(parse(std::string(kLargestText, '#')).errors.empty());
}

TEST_CASE("a file is read whole") {
  const TemporaryFile file("whole.toml");
  const SourceText source = read_text_file(file.write("a = 1\n"));
  CHECK(source.text == "a = 1\n");
  CHECK_THAT(source.name, ContainsSubstring("whole.toml"));
}

TEST_CASE("a file that is missing, empty or a folder says so") {
  const TemporaryFile empty("empty.toml");
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THROWS_WITH(read_text_file("/no/such/file.toml"), "/no/such/file.toml: error: does not exist\n");
  CHECK_THROWS_WITH(read_text_file(empty.write("")), ContainsSubstring("error: is empty"));
  CHECK_THROWS_WITH(read_text_file(folder), ContainsSubstring("error: is a folder, not a file"));
  CHECK_THROWS_AS(read_text_file("/no/such/file.toml"), InputError);
}

TEST_CASE("a file of a hundred megabytes is refused before it is opened") {
  const TemporaryFile file("large.toml");
  const std::string path = file.write("a = 1\n");
  std::filesystem::resize_file(path, 100u << 20);
  CHECK(text_file_refusal(path) == "is larger than 4194304 bytes");
  CHECK_THROWS_WITH(read_text_file(path), ContainsSubstring("error: is larger than 4194304 bytes"));
}

TEST_CASE("an endless device is read only up to the limit") {
  if (!std::filesystem::exists("/dev/zero")) FORETRAIN_SKIP("no /dev/zero here");
  CHECK_THROWS_WITH(read_text_file("/dev/zero", 1000), "/dev/zero: error: is larger than 1000 bytes\n");
}

TEST_CASE(
    "characters that nobody sees are refused where they stand, in texts and keys, however they are written") {
  for (const char* hidden : {"\\u001b[31m", "\\u0007", "\\u007f", "\\u009b", "\\u202e", "\u202e", "\u2066",
                             "\u200f", "\u2028", "\\u0000"}) {
    INFO(hidden);
    CHECK_THAT(parse("a = 1\nname = \"x" + std::string(hidden) + "\"\n").errors,
               ContainsSubstring("t.toml:2:8: error: a text must not hold"));
    CHECK_THAT(parse("a = 1\n\"x" + std::string(hidden) + "\" = 2\n").errors,
               ContainsSubstring("t.toml:2:1: error: a key must not hold"));
    CHECK_THAT(parse("a = [1, \"x" + std::string(hidden) + "\"]\n").errors,
               ContainsSubstring("t.toml:1:9: error: a text must not hold"));
  }
  CHECK_THAT(parse("\"a\\nb\" = 1\n").errors, ContainsSubstring("t.toml:1:1: error: a key must not hold"));
  CHECK(parse("a = \"x\\u001b\"\n").errors ==
        "t.toml:1:5: error: a text must not hold control characters or marks of writing direction: "
        "\"x\\u001b\"\n  1 | a = \"x\\u001b\"\n"
        "    |     ^^^^^^^^^\n  hint: leave out what begins with a backslash there\n");
}

TEST_CASE("line ends, tabs and foreign letters stay in texts") {
  const auto [table, errors] = parse("a = \"two\\nlines\\tand\\r\\nthree\"\nb = \"µ é → 测试\"\n");
  CHECK(errors.empty());
  CHECK(std::get<std::string>(value_of(table, "a").data) == "two\nlines\tand\r\nthree");
  CHECK(std::get<std::string>(value_of(table, "b").data) == "µ é → 测试");
}

TEST_CASE("a name that is too long for any file is the user's mistake") {
  for (const std::size_t length : {300u, 5000u}) {
    const std::string path = std::string(length, 'x') + ".toml";
    CHECK(text_file_refusal(path) == "is longer than a file's name can be");
    CHECK_THROWS_AS(read_text_file("./" + path), InputError);
  }
}

}  // namespace reader_test

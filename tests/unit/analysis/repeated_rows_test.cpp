// Rows that repeat: what is folded, and what is not.
#include "sim/analysis/step/model_summary.hpp"
#include "tests/support/catch.hpp"

namespace repeated_rows_test {

using namespace foretrain;

namespace {

/// One row per letter, all at the top; equal letters look alike.
std::vector<RepeatableRow> rows_of(const std::string& letters) {
  std::vector<RepeatableRow> rows;
  for (const char letter : letters)
    rows.push_back({static_cast<std::uint64_t>(letter), "row" + std::to_string(rows.size())});
  return rows;
}

using Groups = std::vector<RowGroup>;

}  // namespace

TEST_CASE("rows that differ stand alone") {
  CHECK(fold_repeated({}).empty());
  CHECK(fold_repeated(rows_of("abc")) == Groups{{0, 1, 1}, {1, 1, 1}, {2, 1, 1}});
}

TEST_CASE("a row that repeats needs no heading, so two are enough") {
  CHECK(fold_repeated(rows_of("aab")) == Groups{{0, 1, 2}, {2, 1, 1}});
}

TEST_CASE("several rows repeat under a heading when that saves lines") {
  // "abab" as a group takes a heading and two rows, three lines instead of four.
  CHECK(fold_repeated(rows_of("abab")) == Groups{{0, 2, 2}});
  CHECK(fold_repeated(rows_of("xababababy")) == Groups{{0, 1, 1}, {1, 2, 4}, {9, 1, 1}});
}

TEST_CASE("the shortest repetition is found") {
  CHECK(fold_repeated(rows_of("abcabcabcabcabcabc")) == Groups{{0, 3, 6}});
}

TEST_CASE("a level is repeated whole or not at all") {
  // By looks alone, "b a" could repeat from the second row on.
  const std::vector<RepeatableRow> rows{
      {1, "block.0.a"}, {2, "block.0.b"}, {1, "block.1.a"}, {2, "block.1.b"}, {1, "tail.a"}};
  CHECK(fold_repeated(rows) == Groups{{0, 2, 2}, {4, 1, 1}});
  const std::vector<RepeatableRow> shifted{
      {3, "block.0.head"}, {1, "block.0.a"}, {2, "block.0.b"}, {1, "block.1.a"}, {2, "block.1.b"}};
  CHECK(fold_repeated(shifted).size() == 5);
}

TEST_CASE("rows of one level may repeat inside it") {
  const std::vector<RepeatableRow> rows{{3, "body.head"}, {1, "body.a"},  {2, "body.b"},
                                        {1, "body.a2"},   {2, "body.b2"}, {4, "tail"}};
  CHECK(fold_repeated(rows) == Groups{{0, 1, 1}, {1, 2, 2}, {5, 1, 1}});
}

TEST_CASE("every row is covered once, in order, whatever repeats") {
  const std::string letters = "aabbaabbabcabcaaabbbabababcccabcd";
  const Groups groups = fold_repeated(rows_of(letters));
  std::size_t next = 0;
  for (const RowGroup& group : groups) {
    CHECK(group.first == next);
    for (std::size_t i = 0; i < group.length * group.count; ++i)
      CHECK(letters[next + i] == letters[next + i % group.length]);
    next += group.length * group.count;
  }
  CHECK(next == letters.size());
}

TEST_CASE("a hundred thousand rows are folded at once") {
  CHECK(fold_repeated(rows_of(std::string(100'000, 'a'))) == Groups{{0, 1, 100'000}});
  std::vector<RepeatableRow> blocks;
  for (int i = 0; i < 50'000; ++i) {
    for (const char* name : {"a", "b"})
      blocks.push_back({static_cast<std::uint64_t>(name[0]), "block." + std::to_string(i) + "." + name});
  }
  CHECK(fold_repeated(blocks) == Groups{{0, 2, 50'000}});
}

}  // namespace repeated_rows_test

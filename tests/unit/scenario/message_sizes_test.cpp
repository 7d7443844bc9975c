// Sizes as nccl-tests users write them, and everything that is none.
#include "sim/scenario/csv/message_sizes.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/drawn.hpp"

namespace message_sizes_test {

using namespace foretrain;

namespace {

std::vector<std::int64_t> sizes(const std::string& text) {
  const SourceText source{"--sizes", text};
  Diagnostics diagnostics(source);
  std::vector<std::int64_t> out;
  for (const Bytes size : read_message_sizes(source, diagnostics)) out.push_back(size.count);
  INFO(text << "\n" << format(diagnostics.found()));
  CHECK(diagnostics.empty());
  return out;
}

std::string mistakes(const std::string& text) {
  const SourceText source{"--sizes", text};
  Diagnostics diagnostics(source);
  read_message_sizes(source, diagnostics);
  return format(diagnostics.found());
}

using List = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a range of sizes doubles up to its end") {
  CHECK(sizes("8:64:2") == List{8, 16, 32, 64});
  CHECK(sizes("8:63") == List{8, 16, 32});
  CHECK(sizes("8:1G:2").size() == 28);  // 2^3 to 2^30
  CHECK(sizes("1:100:10") == List{1, 10, 100});
}

TEST_CASE("a factor need not be whole, and a size grows by at least one byte") {
  CHECK(sizes("1:8:1.5") == List{1, 2, 3, 4, 6});
}

TEST_CASE(
    "any range begins at its first size, ascends by its factor or step, and stops before it would pass its "
    "last") {
  test::Random random(32);
  for (int draw = 0; draw < 500; ++draw) {
    const std::int64_t from = 1 + static_cast<std::int64_t>(random() % 5000);
    const std::int64_t to = from + static_cast<std::int64_t>(random() % 1'000'000);
    const bool adds = random() % 2 == 0;
    const std::int64_t by = 2 + static_cast<std::int64_t>(random() % (adds ? 50'000 : 7));
    const std::string text =
        std::to_string(from) + ":" + std::to_string(to) + (adds ? ":+" : ":") + std::to_string(by);
    const auto next = [&](std::int64_t size) { return adds ? size + by : size * by; };
    const List found = sizes(text);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front() == from);
    for (std::size_t i = 1; i < found.size(); ++i) REQUIRE(found[i] == next(found[i - 1]));
    CHECK(found.back() <= to);
    CHECK(next(found.back()) > to);
  }
}

TEST_CASE("a step adds") {
  CHECK(sizes("1M:3M:+1M") == List{1 << 20, 2 << 20, 3 << 20});
  CHECK(sizes("0:8:+4") == List{0, 4, 8});
}

TEST_CASE("units of sizes are powers of two, in every spelling") {
  CHECK(sizes("1K,1k,1Ki,1KB,1KiB") == List{1024, 1024, 1024, 1024, 1024});
  CHECK(sizes("1M,1G,1T,5B,7") == List{1 << 20, 1 << 30, std::int64_t{1} << 40, 5, 7});
  CHECK(sizes("1.5K") == List{1536});
  CHECK(sizes("0.3") == List{0});
}

TEST_CASE("sizes are kept in their order, also when they repeat") {
  CHECK(sizes("4K, 8, 8:16") == List{4096, 8, 8, 16});
}

TEST_CASE("one size may be nothing, and the largest is 1 PiB") {
  CHECK(sizes("0") == List{0});
  CHECK(sizes("0:0:2") == List{0});  // the loop visits 0 once
  CHECK(sizes("1024T") == List{std::int64_t{1} << 50});
  CHECK(sizes("512T:1024T") == List{std::int64_t{1} << 49, std::int64_t{1} << 50});
}

TEST_CASE("what is no size is shown with its place") {
  CHECK(mistakes("8:1X:2") == R"(--sizes:1:3: error: "1X" is no size
  1 | 8:1X:2
    |   ^^
  hint: as in 8:1G:2, 1M:8M:+1M, 64M or 4K,1M,256M
)");
  CHECK(mistakes("64M:8") == R"(--sizes:1:1: error: the range ends before it begins
  1 | 64M:8
    | ^^^^^
  hint: as in 8:1G:2, 1M:8M:+1M, 64M or 4K,1M,256M
)");
  CHECK(mistakes("1152921504606846976") == R"(--sizes:1:1: error: sizes end at 1 PiB
  1 | 1152921504606846976
    | ^^^^^^^^^^^^^^^^^^^
  hint: nccl-tests itself stops at the memory of the GPUs
)");
  CHECK(mistakes("0:8:2") == R"(--sizes:1:1: error: a factor never leaves 0 bytes
  1 | 0:8:2
    | ^
  hint: start at 1, or use +STEP
)");
  CHECK(mistakes("8:1G:+1") == R"(--sizes:1:1: error: more than 100000 sizes
  1 | 8:1G:+1
    | ^^^^^^^
  hint: take a larger step
)");
}

TEST_CASE("every wrong item is reported, and nothing loops forever") {
  for (const char* text : {"",         ",",
                           "8,",       "-8",
                           "+8",       "8:",
                           ":8",       "8:16:",
                           "8:16:1",   "8:16:0",
                           "8:16:-2",  "8:16:nan",
                           "8:16:inf", "8:16:2:2",
                           "8:16:+0",  "8:16:+",
                           "nan",      "inf",
                           "1e3",      "0x10",
                           "8 M B",    "K",
                           "1Kib",     "1P",
                           "8\n16",    "99999999999999999999999999",
                           "8:16:1.0"}) {
    INFO(text);
    CHECK_THAT(mistakes(text), ContainsSubstring("error: "));
  }
  CHECK_THAT(mistakes("x,y,z"), ContainsSubstring("3 errors"));
  CHECK_THAT(mistakes(std::string(20'000, '1')), ContainsSubstring("at most 10000 characters"));
  CHECK_THAT(mistakes(std::string("8\0", 2)), ContainsSubstring("one line of text"));
}

}  // namespace message_sizes_test

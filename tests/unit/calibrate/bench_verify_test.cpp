// Tests of the references that results are compared with: against other formulas for the same thing.
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "calibrate/micro/plan/verify.hpp"
#include "tests/support/catch.hpp"

namespace bench_verify_test {

using namespace foretrain::micro;

TEST_CASE("patterns are small integers of every value, different by seed") {
  std::array<int, 5> seen{};
  int equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    REQUIRE(std::abs(pattern(i, 1)) <= 2);
    ++seen[static_cast<std::size_t>(pattern(i, 1) + 2)];
    equal += pattern(i, 1) == pattern(i, 2) ? 1 : 0;
  }
  for (const int times : seen) CHECK(times > 150);
  CHECK(equal < 300);
}

TEST_CASE("a product's first element is the first row by the first column, in every one of a batch") {
  const GemmShape shape{3, 2, 4, 2};
  const auto c = reference_gemm(shape);
  REQUIRE(c.size() == 12);
  double first = 0, other = 0;
  for (int k = 0; k < 4; ++k) {
    first += pattern(static_cast<std::uint64_t>(k * 3), 1) * pattern(static_cast<std::uint64_t>(k), 2);
    other += pattern(static_cast<std::uint64_t>(12 + k * 3 + 2), 1) *
             pattern(static_cast<std::uint64_t>(8 + 4 + k), 2);
  }
  CHECK(c[0] == first);
  CHECK(c[6 + 3 + 2] == other);  // second of the batch, row 2, column 1
}

TEST_CASE("a 1 x 1 convolution is a product over channels") {
  const ConvShape shape{1, 3, 2, 2, 1, 1};
  const auto y = reference_conv(shape, ConvPass::forward);
  REQUIRE(y.size() == 8);
  double expected = 0;
  for (int c = 0; c < 3; ++c)
    expected +=
        pattern(static_cast<std::uint64_t>(c * 4 + 3), 1) * pattern(static_cast<std::uint64_t>(3 + c), 2);
  CHECK(y[4 + 3] == expected);
}

TEST_CASE(
    "the gradients are those of the forward pass: <y, conv(x, w)> = <x, data(y, w)> = <w, weights(x, y)>") {
  for (const ConvShape& shape :
       {ConvShape{2, 4, 6, 7, 3, 2}, ConvShape{1, 4, 4, 5, 3, 1, 2}, ConvShape{1, 2, 3, 6, 5, 1}}) {
    // Each pass has its own patterns: x 1, w 2 forward; y 1, w 2 for data; x 1, y 2 for weights. So compare
    // sums that use the same pairs.
    const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    const auto forward = reference_conv(shape, ConvPass::forward);  // of x1, w2
    const auto weights = reference_conv(shape, ConvPass::weights);  // of x1, y2
    CHECK(dot(forward, pattern_values(shape.output_elements(), 2)) ==
          dot(weights, pattern_values(shape.weight_elements(), 2)));
    const auto data = reference_conv(shape, ConvPass::data);  // of y1, w2
    CHECK(static_cast<std::int64_t>(data.size()) == shape.input_elements());
  }
}

TEST_CASE("the sum over a convolution of ones counts the products that meet the picture") {
  const ConvShape shape{1, 1, 1, 3, 3, 1};
  CHECK(conv_checksum(shape, 1) == 49);  // rows meet 2 + 3 + 2 = 7 times, and so do columns
  CHECK(conv_checksum({2, 4, 6, 3, 3, 1, 2}, 0.5) == 0.5 * 49 * 2 * 6 * 2);
  CHECK(conv_checksum({1, 1, 1, 4, 1, 2}, 1) == 4);
}

TEST_CASE("what ranks hold after a collective") {
  // Rank r's element i is (r + 1)(1 + i % 7).
  CHECK(collective_result("all_reduce", 1, 3, 2, 12) == (1 + 2 + 3) * 3);
  CHECK(collective_result("reduce_scatter", 1, 3, 2, 12) == (1 + 2 + 3) * (1 + 6 % 7));
  CHECK(collective_result("all_gather", 0, 3, 6, 12) == 2 * (1 + 2));
  CHECK(collective_result("alltoall", 2, 3, 5, 12) == 2 * (1 + (8 + 1) % 7));
  CHECK(collective_result("broadcast", 2, 3, 5, 12) == 6);
  CHECK(collective_result("sendrecv", 0, 3, 5, 12) == 3 * 6);
  CHECK(collective_result("reduce", 0, 3, 0, 12) == 6);
}

TEST_CASE("differences name the element, and NaN is one") {
  CHECK(first_difference({1, 2}, {1, 2}, 0).empty());
  CHECK(first_difference({1, 2.1}, {1, 2}, 0.01) == "element 1 is 2.1, expected 2");
  CHECK(first_difference({NAN}, {1}, 0.5) == "element 0 is nan, expected 1");
  CHECK(first_difference({1}, {1, 2}, 0) == "1 elements, expected 2");
}

TEST_CASE("copied words are told from those of another lane") {
  std::vector<std::uint32_t> words;
  for (std::uint64_t i = 0; i < 10; ++i) words.push_back(copied_word(i, 4));
  CHECK(first_wrong_word(words, 4).empty());
  CHECK_THAT(first_wrong_word(words, 5), ContainsSubstring("word 0"));
  words[7] = 0;
  CHECK_THAT(first_wrong_word(words, 4), ContainsSubstring("word 7 is 00000000"));
}

}  // namespace bench_verify_test

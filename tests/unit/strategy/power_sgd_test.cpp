// PowerSGD: shapes of gradients, what is worth compressing, and the sizes of its messages.
#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/ddp/ddp_reducer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace power_sgd_test {

using namespace foretrain;

namespace {

Bucket all_of(const ExpandedModel& model) {
  Bucket bucket;
  for (std::uint32_t i = 0; i < model.parameters.size(); ++i)
    bucket.parameters.push_back(i), bucket.size += Bytes{4 * model.parameters[i].elements};
  return bucket;
}

}  // namespace

TEST_CASE("gradients are matrices of outputs by inputs, biases are vectors") {
  // MNIST: two convolutions of 3 x 3 (1 to 32, 32 to 64 channels), linear 9216 to 128 and 128 to 10; each
  // with a bias.
  const std::vector<MatrixShape> shapes = matrix_shapes(expand(test::mnist_net()).model);
  CHECK(shapes == std::vector<MatrixShape>{
                      {32, 9}, {32, 1}, {64, 288}, {64, 1}, {128, 9216}, {128, 1}, {10, 128}, {10, 1}});
}

TEST_CASE("convolutions' gradients are output channels by everything else, norms' are vectors") {
  const ExpandedModel model = expand(test::resnet18()).model;
  const std::vector<MatrixShape> shapes = matrix_shapes(model);
  CHECK(shapes[0] == MatrixShape{64, 3 * 49});
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    INFO(model.parameters[i].name);
    CHECK(shapes[i].rows * shapes[i].columns == model.parameters[i].elements);
    const bool vector = model.parameters[i].elements <= 1000;
    CHECK((shapes[i].columns == 1) == vector);
  }
}

TEST_CASE("a table's gradient is entries by width") {
  const ExpandedModel model = expand(test::encoder(1, 64, 128, 4, 1000)).model;
  const std::vector<MatrixShape> shapes = matrix_shapes(model);
  bool found = false;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    found = found || (shapes[i].rows == 1000 && shapes[i].columns > 1);
  CHECK(found);
}

TEST_CASE("a gradient is compressed when rank times the sum of its sides times the rate is below its size") {
  const ExpandedModel model = expand(test::mnist_net()).model;
  DdpOptions options;
  const PowerSgdBucket split = split_bucket(all_of(model), matrix_shapes(model), options);
  // Rank 1, rate 2: 32 x 9 (82 < 288), 64 x 288, 128 x 9216 and 10 x 128 (276 < 1280) are; the four biases
  // are not.
  REQUIRE(split.matrices.size() == 4);
  CHECK(split.p == 32 + 64 + 128 + 10);
  CHECK(split.q == 9 + 288 + 9216 + 128);
  CHECK(split.plain == 32 + 64 + 128 + 10);
  CHECK(split.vectors == std::vector<std::int64_t>{32, 64, 128, 10});
}

TEST_CASE("a higher rate leaves small matrices as they are, a higher rank makes P and Q wider") {
  const ExpandedModel model = expand(test::mnist_net()).model;
  DdpOptions options;
  options.powersgd_min_rate = 5;  // 10 x 128: 138 x 5 < 1280; 32 x 9: 41 x 5 < 288
  CHECK(split_bucket(all_of(model), matrix_shapes(model), options).matrices.size() == 4);
  options.powersgd_min_rate = 8;  // 41 x 8 > 288
  const PowerSgdBucket split = split_bucket(all_of(model), matrix_shapes(model), options);
  CHECK(split.matrices.size() == 3);
  CHECK(split.vectors.front() == 288);
  options.powersgd_min_rate = 2, options.powersgd_rank = 4;
  for (const LowRank& low : split_bucket(all_of(model), matrix_shapes(model), options).matrices)
    CHECK(low.rank == 4);
}

TEST_CASE("a matrix has no more ranks than its shorter side") {
  DdpOptions options;
  options.powersgd_rank = 100;
  const PowerSgdBucket split = split_bucket({{0}, {4 * 10 * 100'000}}, {{10, 100'000}}, options);
  CHECK(split.matrices.empty());  // rank 10: as many elements as the matrix itself
  CHECK(split.plain == 1'000'000);
}

TEST_CASE("Gram-Schmidt normalises every column and subtracts it from those that follow") {
  CHECK(gram_schmidt_kernels(1) == 2);
  CHECK(gram_schmidt_kernels(4) == 2 * 4 + 3 * 3);
}

}  // namespace power_sgd_test

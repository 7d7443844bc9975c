// Single operators against numbers by hand, and the table of all of them.
#include "sim/workload/recorded/operator_rules.hpp"

#include <cmath>
#include <set>

#include "sim/workload/device/arithmetic.hpp"
#include "sim/workload/recorded/recorded_work.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recorded_text.hpp"

namespace operator_rules_test {

using namespace foretrain;

namespace {

RecordedPieces of(const std::string& name, const std::vector<std::string>& in,
                  const std::vector<std::string>& out, std::vector<RecordedArgument> with = {},
                  RecordedTypes types = RecordedTypes::half_kept) {
  RecordedNetwork network;
  network.batch = 4;
  network.module_names.id_of(""), network.node_names.id_of("");
  RecordedOperator op;
  op.name = network.operator_names.id_of(name);
  op.with = std::move(with);
  for (const std::string& text : in) {
    op.in.push_back(static_cast<SizeId>(network.sizes.size()));
    network.sizes.push_back(parse_tensor_size(text).size);
  }
  for (const std::string& text : out) {
    op.out.push_back(static_cast<SizeId>(network.sizes.size()));
    network.sizes.push_back(parse_tensor_size(text).size);
  }
  return pieces_of(network, op, types);
}

Operator one(const RecordedPieces& pieces) {
  REQUIRE(pieces.pieces.size() == 1);
  return pieces.pieces[0].op;
}

}  // namespace

TEST_CASE("rows of the operator table have a name of their own, words, and work") {
  std::set<std::string_view> names;
  for (const OperatorRule& rule : operator_rules()) {
    INFO(rule.name);
    CHECK(names.insert(rule.name).second);
    CHECK_FALSE(rule.flops.empty());
    CHECK_FALSE(rule.bytes.empty());
    CHECK(rule.work != nullptr);
  }
  CHECK(names.size() > 300);
}

TEST_CASE("an operator is found with and without its namespace and in place") {
  CHECK(find_operator_rule("aten::relu_") == find_operator_rule("relu"));
  CHECK(find_operator_rule("torchvision::roi_align") != nullptr);
  CHECK(find_operator_rule("aten::no_such_operator") == nullptr);
  CHECK(find_operator_rule("mine::relu") == nullptr);
  CHECK(find_operator_rule("_") == nullptr);
}

TEST_CASE("a product with an addend counts its multiply-adds and the addend") {
  const Operator op = one(of("aten::addmm", {"f32[10]", "f32[5B,7]", "f32[7,10]"}, {"f32[5B,10]"}));
  CHECK(op.flops.per_sample == 2 * 5 * 7 * 10 + 5 * 10);
  CHECK(op.flops.fixed == 0);
  CHECK(op.bytes.fixed == 4 * (10 + 70));
  CHECK(op.bytes.per_sample == 4 * (35 + 50));
  REQUIRE(op.product_count == 1);
  CHECK(op.products[0].m == 5);
  CHECK(op.products[0].grows == Product::Grows::rows);
}

TEST_CASE("the batch multiplies rows, depth, count or nothing of a product") {
  const auto grows = [](const char* a, const char* b, const char* c) {
    return one(of("aten::mm", {a, b}, {c})).products[0];
  };
  CHECK(grows("f32[B,7]", "f32[7,9]", "f32[B,9]").grows == Product::Grows::rows);
  CHECK(grows("f32[9,B]", "f32[B,7]", "f32[9,7]").grows == Product::Grows::depth);
  CHECK(grows("f32[9,8]", "f32[8,7]", "f32[9,7]").grows == Product::Grows::nothing);
  const Product columns = grows("f32[9,8]", "f32[8,3B]", "f32[9,3B]");
  CHECK(columns.grows == Product::Grows::rows);
  CHECK(columns.m == 3);
  CHECK(columns.n == 9);
  const Operator batched = one(of("aten::bmm", {"f32[12B,5,6]", "f32[12B,6,7]"}, {"f32[12B,5,7]"}));
  CHECK(batched.products[0].grows == Product::Grows::count);
  CHECK(batched.products[0].count == 12);
  CHECK(batched.flops.per_sample == 2 * 12 * 5 * 6 * 7);
}

TEST_CASE("a product of fixed size costs the same at every batch") {
  const Operator op = one(of("aten::mm", {"f32[9,8]", "f32[8,7]"}, {"f32[9,7]"}));
  CHECK(op.flops.at(1) == 2 * 9 * 8 * 7);
  CHECK(op.flops.at(100) == op.flops.at(1));
  CHECK(op.products[0].flops(100) == 2 * 9 * 8 * 7);
}

TEST_CASE("what grows with the square of the batch is exact where it was recorded and says so") {
  const RecordedPieces pieces = of("aten::mm", {"f32[B,64]", "f32[64,B]"}, {"f32[B,B]"});
  CHECK(pieces.beyond_linear);
  CHECK(one(pieces).flops.at(4) == 2 * 4 * 64 * 4);
  CHECK_FALSE(of("aten::mm", {"f32[B,64]", "f32[64,8]"}, {"f32[B,8]"}).beyond_linear);
}

TEST_CASE("a transposed and a grouped convolution count what their windows touch") {
  const std::vector<RecordedArgument> grouped{{"groups", {4}, ""}, {"stride", {2, 2}, ""}};
  const Operator op =
      one(of("aten::convolution", {"f32[B,8,16,16]", "f32[12,2,3,3]"}, {"f32[B,12,8,8]"}, grouped));
  CHECK(op.flops.per_sample == 2.0 * 64 * 12 * 2 * 9);
  CHECK(op.products[0].count == 4);
  CHECK(op.products[0].stride == 2);
  const std::vector<RecordedArgument> turned{{"transposed", {1}, ""}, {"stride", {2, 2}, ""}};
  const Operator back =
      one(of("aten::convolution", {"f32[B,8,4,4]", "f32[8,6,2,2]"}, {"f32[B,6,8,8]"}, turned));
  CHECK(back.flops.per_sample == 2.0 * 16 * 8 * 6 * 4);
  const std::vector<RecordedArgument> depthwise{{"groups", {8}, ""}};
  CHECK(one(of("aten::convolution", {"f32[B,8,4,4]", "f32[8,1,3,3]"}, {"f32[B,8,4,4]"}, depthwise)).cls ==
        OperatorClass::depthwise_conv);
}

TEST_CASE("the gradients of a convolution are those of its mask or of its results") {
  const std::vector<std::string> in{"f32[B,12,8,8]", "f32[B,8,8,8]", "f32[12,8,3,3]"};
  const double forward = 2.0 * 64 * 12 * 8 * 9;
  const Operator both =
      one(of("aten::convolution_backward", in, {"f32[B,8,8,8]", "f32[12,8,3,3]", "f32[12]"}));
  CHECK(both.flops.per_sample == 2 * forward + 12 * 64);
  CHECK(both.kernels == 3);
  const Operator weights =
      one(of("aten::convolution_backward", in, {"f32[12,8,3,3]"}, {{"output_mask", {0, 1, 0}, ""}}));
  CHECK(weights.flops.per_sample == forward);
  CHECK(weights.product_count == 1);
  CHECK(weights.products[0].grows == Product::Grows::depth);
}

TEST_CASE(
    "attention in one kernel counts two products forward and five backward and half of both when causal") {
  const std::vector<std::string> q{"f32[B,2,8,16]", "f32[B,2,8,16]", "f32[B,2,8,16]"};
  const double product = 2.0 * 2 * 8 * 8 * 16;
  CHECK(one(of("aten::_scaled_dot_product_flash_attention", q, {"f32[B,2,8,16]"})).flops.per_sample ==
        2 * product);
  CHECK(one(of("aten::_scaled_dot_product_flash_attention", q, {"f32[B,2,8,16]"}, {{"is_causal", {1}, ""}}))
            .flops.per_sample == product);
  std::vector<std::string> gradient = q;
  gradient.insert(gradient.begin(), "f32[B,2,8,16]");
  CHECK(one(of("aten::_scaled_dot_product_flash_attention_backward", gradient, {"f32[B,2,8,16]"}))
            .flops.per_sample == 5 * product);
}

TEST_CASE("an einsum multiplies every combination of its letters") {
  const Operator op = one(
      of("aten::einsum", {"f32[B,5,6]", "f32[B,6,7]"}, {"f32[B,5,7]"}, {{"equation", {}, "bij,bjk->bik"}}));
  CHECK(op.flops.per_sample == 2.0 * 5 * 6 * 7);
}

TEST_CASE("a look-up counts the rows it reads and its gradient the table") {
  const Operator forward = one(of("aten::embedding", {"f32[1000,16]", "i64[B,5]"}, {"f32[B,5,16]"}));
  CHECK(forward.bytes.fixed == 0);
  CHECK(forward.bytes.per_sample == 8 * 5 + 2 * 4 * 80);
  const Operator backward =
      one(of("aten::embedding_dense_backward", {"f32[B,5,16]", "i64[B,5]"}, {"f32[1000,16]"}));
  CHECK(backward.bytes.fixed == 4 * 16'000);
  CHECK(backward.flops.fixed == 16'000);
}

TEST_CASE("recurrent layers count as the layers of model files do") {
  const std::vector<RecordedArgument> with{{"mode", {}, "lstm"},       {"num_layers", {2}, ""},
                                           {"bidirectional", {1}, ""}, {"hidden", {8}, ""},
                                           {"gates", {4}, ""},         {"batch_first", {1}, ""}};
  const RecordedPieces made =
      of("aten::_cudnn_rnn", {"f32[B,5,6]", "f32[32,6]", "f32[32,8]"}, {"f32[B,5,16]"}, with);
  const ExpandedModel layers = test::expanded_text(
      "input = [5, 6]\nlayers = [{ type = \"lstm\", width = 8, layers = 2, bidirectional = true }, "
      "{ type = \"loss\" }]\n");
  REQUIRE(made.pieces.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(made.pieces[i].op.flops.per_sample == layers.forward[i].flops.per_sample);
    CHECK(made.pieces[i].op.bytes.fixed == layers.forward[i].bytes.fixed);
    CHECK(made.pieces[i].op.bytes.per_sample == layers.forward[i].bytes.per_sample);
    CHECK(made.pieces[i].op.kernels == layers.forward[i].kernels);
  }
}

TEST_CASE("views and allocations run nothing unless a trace saw kernels") {
  CHECK(of("aten::view", {"f32[B,64]"}, {"f32[8,8B]"}).pieces.empty());
  CHECK(of("aten::empty", {}, {"f32[B,64]"}).pieces.empty());
  CHECK(of("aten::empty", {}, {"f32[B,64]"}).is_known);
}

TEST_CASE("an operator without a formula costs its bytes") {
  const RecordedPieces pieces = of("mine::magic", {"f32[B,64]", "i64[3]"}, {"f32[B,32]"});
  CHECK_FALSE(pieces.is_known);
  CHECK(one(pieces).flops.at(4) == 0);
  CHECK(one(pieces).bytes.per_sample == 4 * 96);
  CHECK(one(pieces).bytes.fixed == 24);
}

TEST_CASE("16 bits count as full ones under autocast and keep their width elsewhere") {
  const Operator cast = one(of("aten::relu", {"f16[B,64]"}, {"f16[B,64]"}, {}, RecordedTypes::widened));
  CHECK(cast.width == ElementWidth::by_precision);
  CHECK(cast.bytes.per_sample == 8 * 64);
  const Operator own = one(of("aten::relu", {"bf16[B,64]"}, {"bf16[B,64]"}));
  CHECK(own.width == ElementWidth::half);
  CHECK(own.bytes.per_sample == 8 * 64);  // halved in every precision
  CHECK(one(of("aten::relu", {"f32[B,64]"}, {"f32[B,64]"})).width == ElementWidth::by_precision);
}

TEST_CASE("autocast's list of fp32 operators stays in fp32 where the precision decides") {
  for (const char* name : {"aten::pow", "aten::rsqrt", "aten::cumsum", "aten::sum"}) {
    INFO(name);
    CHECK_FALSE(one(of(name, {"f32[B,64]"}, {"f32[B,64]"})).half_capable);
  }
  CHECK(one(of("aten::tanh", {"f32[B,64]"}, {"f32[B,64]"})).half_capable);
  CHECK(one(of("aten::pow", {"f32[B,64]"}, {"f32[B,64]"}, {}, RecordedTypes::kept)).width ==
        ElementWidth::full);
}

TEST_CASE("where types are kept an operator moves the bytes of its row in every precision") {
  const auto moved = [](const char* name, const std::vector<std::string>& in, const std::string& out,
                        Precision precision) {
    const Operator op = one(of(name, in, {out}, {}, RecordedTypes::kept));
    return op.bytes.at(4) * element_share(op, precision);
  };
  for (const Precision precision : {Precision::fp32, Precision::amp_fp16, Precision::bf16}) {
    CHECK(moved("aten::relu", {"bf16[B,64]"}, "bf16[B,64]", precision) == 4 * 64 * (2 + 2));
    CHECK(moved("aten::pow", {"f32[B,64]"}, "f32[B,64]", precision) == 4 * 64 * (4 + 4));
    CHECK(moved("aten::mul", {"bf16[B,64]", "f32[B,64]"}, "f32[B,64]", precision) == 4 * 64 * (2 + 4 + 4));
    CHECK(moved("aten::_to_copy", {"f32[B,64]"}, "bf16[B,64]", precision) == 4 * 64 * (4 + 2));
    CHECK(moved("aten::_softmax", {"f32[B,64]"}, "f32[B,64]", precision) == 4 * 64 * (4 + 4));
  }
}

TEST_CASE("numbers that no tensor can have make no work that is not finite") {
  for (const OperatorRule& rule : operator_rules()) {
    INFO(rule.name);
    for (const RecordedPiece& piece :
         of("aten::" + std::string(rule.name), {"f32[0,0]", "f32[1099511627776]"}, {"f32[0]"}).pieces) {
      CHECK(std::isfinite(piece.op.flops.at(4)));
      CHECK(std::isfinite(piece.op.bytes.at(4)));
      CHECK(piece.op.bytes.at(4) >= 0);
    }
  }
}

}  // namespace operator_rules_test

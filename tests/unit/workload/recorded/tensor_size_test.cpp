// The grammar of sizes: what is read is written back, and what is no size says why.
#include "sim/workload/recorded/tensor_size.hpp"

#include "tests/support/catch.hpp"

namespace tensor_size_test {

using namespace foretrain;

TEST_CASE("sizes are written as they were read") {
  for (const char* text : {"f32[]", "f32[B,3,224,224]", "i64[B]", "bf16[49B,64]", "f16[1+2B,8]", "b8[0]",
                           "c64[5+B]", "u8[1,2,3,4,5,6,7,8]"}) {
    INFO(text);
    const ParsedTensorSize parsed = parse_tensor_size(text);
    CHECK(parsed.fault.empty());
    CHECK(to_string(parsed.size) == text);
  }
}

TEST_CASE("a dimension grows with the batch as its text says") {
  const TensorSize size = parse_tensor_size("f32[1+2B,10]").size;
  CHECK(size.elements(0) == 10);
  CHECK(size.elements(4) == 90);
  CHECK(size.grows());
  CHECK(parse_tensor_size("f32[]").size.elements(7) == 1);
  CHECK_FALSE(parse_tensor_size("f32[3,4]").size.grows());
}

TEST_CASE("what is no size is refused with its reason") {
  struct Refused {
    std::string text, part;
  };
  const std::vector<Refused> all{{"f32", "no size"},
                                 {"f33[4]", "unknown type \"f33\""},
                                 {"f32[4", "no size"},
                                 {"f32[-4]", "dimension \"-4\""},
                                 {"f32[4,]", "comma"},
                                 {"f32[B+1]", "dimension \"B+1\""},
                                 {"f32[2+]", "dimension"},
                                 {"f32[2+3]", "dimension \"2+3\""},
                                 {"f32[,4]", "dimension"},
                                 {"f32[1,1,1,1,1,1,1,1,1]", "more than 8"},
                                 {"f32[B B]", "dimension"},
                                 {"f32[99999999999999]", "2^40"},
                                 {"f32[99999999999999999999]", "dimension"}};
  for (const Refused& refused : all) {
    INFO(refused.text);
    CHECK(parse_tensor_size(refused.text).fault.find(refused.part) != std::string::npos);
  }
  CHECK(parse_tensor_size("f33[4]").hint.find("f32") != std::string::npos);
}

}  // namespace tensor_size_test

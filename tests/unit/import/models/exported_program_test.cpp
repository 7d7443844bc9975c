// Exported programs of torch: archives written by Python's zipfile, deflated and stored, with graphs as
// torch.export serializes them.
#include "sim/import/models/zip_archive.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/unit/import/models/imported.hpp"

namespace exported_program_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

std::string archive(const std::string& name) {
  return read_text_file(FORETRAIN_SOURCE_DIR "/tests/fuzz/corpus/fuzz_exported_program/" + name).text;
}

}  // namespace

TEST_CASE("an exported program becomes the layers of its graph, buffers left out") {
  const ExpandedModel graph = network_of(archive("image.pt2"));
  CHECK(graph.parameter_elements() == 8 * 27 + 16 + 90);
  CHECK(graph.input_elements == 3 * 16 * 16);
  // A convolution of 8 x 8 positions, and ten classes with their bias.
  CHECK(graph.forward_gemm_flops().per_sample == 2. * 64 * 8 * 27 + 10 * (2 * 8 + 1));
}

TEST_CASE("attention in one call is two products around a softmax") {
  const ImportedModel made = imported(archive("words.pt2"));
  const ExpandedModel graph = expanded_text(made);
  CHECK(graph.parameter_elements() == 100 * 16 + 16 * 16 + 16 + 2 * 32 * 16 + 32);
  double batched = 0;
  for (const Operator& op : graph.forward)
    batched += op.cls == OperatorClass::attention ? op.flops.per_sample : 0;
  CHECK(batched == 2 * (2. * 6 * 6 * 16));
  CHECK(remarks(made, "aten strange"));
}

TEST_CASE("archives without a program, cut ones and bombs are refused") {
  CHECK_THAT(mistakes_of(archive("weights.pt2")), ContainsSubstring("torch.save() writes weights alone"));
  CHECK_THAT(mistakes_of(archive("cut.pt2")), ContainsSubstring("was cut"));
  CHECK_THAT(mistakes_of(archive("bomb.pt2")), ContainsSubstring("no graph of tensors and nodes"));
  const std::string whole = archive("image.pt2");
  for (std::size_t length = 4; length < whole.size(); length += 7)
    CHECK_FALSE(mistakes_of(whole.substr(0, length)).empty());
}

TEST_CASE("a member that says it is larger than it may be is not unpacked") {
  const std::string text = archive("bomb.pt2");
  const auto members = zip_members(text);
  REQUIRE(members);
  REQUIRE(members->size() == 2);
  CHECK(unzipped(text, members->back(), 2'000'000)->size() == 2'000'000);
  CHECK_FALSE(unzipped(text, members->back(), 1'999'999));
  ZipMember lying = members->back();
  lying.size = 10;
  CHECK_FALSE(unzipped(text, lying, 1'999'999));
  lying = members->back(), lying.offset = text.size() + 5;
  CHECK_FALSE(unzipped(text, lying, 2'000'000));
}

}  // namespace exported_program_test

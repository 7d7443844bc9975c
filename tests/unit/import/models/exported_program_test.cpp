// Exported programs of torch: archives written by Python's zipfile, deflated and stored, with graphs as
// torch.export serializes them.
#include "sim/import/accounting/gzip.hpp"
#include "sim/import/models/aten_nodes.hpp"
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
  CHECK_THAT(mistakes_of(archive("bomb.pt2")), ContainsSubstring("is nested more than 64 deep"));
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

TEST_CASE("a stored member is checked as a packed one is: sizes, limit and checksum") {
  const std::string text = archive("image.pt2");
  const auto members = zip_members(text);
  REQUIRE(members);
  const auto stored = std::ranges::find(*members, 0, &ZipMember::method);
  REQUIRE(stored != members->end());
  CHECK(unzipped(text, *stored, stored->size)->size() == stored->size);
  CHECK_FALSE(unzipped(text, *stored, stored->size - 1));
  ZipMember lying = *stored;
  lying.size = 0;
  CHECK_FALSE(unzipped(text, lying, 2'000'000));
  lying = *stored, lying.checksum ^= 1;
  CHECK_FALSE(unzipped(text, lying, 2'000'000));
}

TEST_CASE("of a list of outputs no more tensors are kept than of a node") {
  LogJson node;
  LogJson& list = node["outputs"][0]["as_tensors"];
  for (int i = 0; i < 2000; ++i) list.push_back({{"name", "x"}});
  CHECK(AtenNode(node).outputs().size() == 1024);
}

TEST_CASE("hardtanh has the upper bound that its node gives, and one where it gives none") {
  const auto bound = [](const char* arguments) {
    const LogJson node = LogJson::parse(std::string(R"({"target": "torch.ops.aten.hardtanh.default", "inputs":
      [{"name": "self", "arg": {"as_tensor": {"name": "x"}}})") +
                                        arguments + R"(], "outputs": [{"as_tensor": {"name": "y"}}]})");
    OnnxGraph graph;
    append_aten(AtenNode(node), graph);
    return graph.nodes.at(0).find("max")->real;
  };
  CHECK(bound(R"(, {"name": "max_val", "arg": {"as_float": 6.0}})") == 6);
  CHECK(bound(R"(, {"name": "max_val", "arg": {"as_int": 20}})") == 20);
  CHECK(bound("") == 1);
}

TEST_CASE("a program nested deeper than it may be is refused and not cut") {
  const std::string deep = R"({"graph_module": )" + std::string(70, '[') + std::string(70, ']') + "}";
  // One stored member and its directory, with the fields that are read: checksum, sizes, length of the name.
  const std::string name = "serialized_exported_program.json";
  const auto number = [](std::uint64_t value, int size) {
    std::string out;
    for (int byte = 0; byte < size; ++byte) out += static_cast<char>(value >> (8 * byte) & 0xFF);
    return out;
  };
  const std::string sizes = number(crc32_of(deep), 4) + number(deep.size(), 4) + number(deep.size(), 4) +
                            number(name.size(), 2) + number(0, 2);
  const std::string local = "PK\x03\x04" + std::string(10, '\0') + sizes + name + deep;
  const std::string entry = "PK\x01\x02" + std::string(12, '\0') + sizes + std::string(14, '\0') + name;
  const std::string end = "PK\x05\x06" + number(0, 4) + number(1, 2) + number(1, 2) +
                          number(entry.size(), 4) + number(local.size(), 4) + number(0, 2);
  CHECK_THAT(mistakes_of(local + entry + end), ContainsSubstring("is nested more than 64 deep"));
}

}  // namespace exported_program_test

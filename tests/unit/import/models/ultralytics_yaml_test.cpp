// Networks of Ultralytics' YAML: parameters as parse_model of ultralytics 8.4.190 builds them, and what is
// refused.
#include "tests/unit/import/models/imported.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace ultralytics_yaml_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr const char* kScales =
    "nc: 5\nkpt_shape: [4, 2]\nscales:\n  s: [0.50, 0.25, 512]\n  m: [0.67, 0.75, 384]\n";

/// A small network with the blocks of YOLOv8, or of YOLO11, before its head.
std::string yolo(bool is_newer, const std::string& head, const std::string& top = kScales) {
  return top +
         std::string(
             "backbone:\n  - [-1, 1, Conv, [64, 3, 2]]\n  - [-1, 1, Conv, [128, 3, 2]]\n"
             "  - [-1, 3, C2f, [128, True]]\n  - [-1, 1, Conv, [256, 3, 2]]\n") +
         (is_newer ? "  - [-1, 3, C3k2, [256, False, 0.25]]\n" : "  - [-1, 3, C3, [256]]\n") +
         "  - [-1, 1, DWConv, [256, 3, 2]]\n  - [-1, 1, SPPF, [256, 5]]\n" +
         (is_newer ? "  - [-1, 2, C2PSA, [256]]\n" : "") +
         "head:\n  - [-1, 1, nn.Upsample, [None, 2, \"nearest\"]]\n  - [[-1, 4], 1, Concat, [1]]\n"
         "  - [-1, 3, C3, [256, False]]\n  - [-1, 1, Conv, [256, 3, 2]]\n  - [[-1, " +
         (is_newer ? "7" : "6") + "], 1, Concat, [1]]\n  - [-1, 3, C2f, [512]]\n  - " + head + "\n";
}

std::int64_t parameters(const std::string& text, const std::string& scale) {
  use_source_catalogs();
  ModelImportOptions options;
  options.name = scale;
  const ExpandedModel model = network_of(text, options);
  std::int64_t count = model.parameter_elements();
  for (const Parameter& frozen : model.frozen) count += frozen.elements;
  return count;
}

}  // namespace

TEST_CASE("a YAML of Ultralytics has the parameters of the network that it builds, at each scale") {
  struct Row {
    const char* head;
    bool is_newer;
    std::int64_t small, medium;
  };
  const Row rows[] = {{"[[9, 12], 1, Detect, [nc]]", false, 723'114, 4'184'522},
                      {"[[9, 12], 1, Segment, [nc, 32, 256]]", false, 891'754, 5'255'050},
                      {"[[9, 12], 1, Pose, [nc, kpt_shape]]", false, 755'770, 4'434'522},
                      {"[[9, 12], 1, OBB, [nc, 1]]", false, 755'532, 4'433'836},
                      {"[-1, 1, Classify, [nc]]", false, 517'269, 2'706'613},
                      {"[[10, 13], 1, Detect, [nc]]", true, 561'002, 2'855'882},
                      {"[[10, 13], 1, Segment, [nc, 32, 256]]", true, 729'642, 3'926'410},
                      {"[[10, 13], 1, Pose, [nc, kpt_shape]]", true, 593'658, 3'105'882},
                      {"[[10, 13], 1, OBB, [nc, 1]]", true, 593'420, 3'105'196},
                      {"[-1, 1, Classify, [nc]]", true, 515'477, 2'695'573}};
  for (const Row& row : rows) {
    INFO(row.head << (row.is_newer ? ", YOLO11" : ", YOLOv8"));
    CHECK(parameters(yolo(row.is_newer, row.head), "s") == row.small);
    CHECK(parameters(yolo(row.is_newer, row.head), "m") == row.medium);
  }
}

TEST_CASE("YOLOv5's own files have two multiples and a head with anchors") {
  use_source_catalogs();
  const std::string top =
      "nc: 80\ndepth_multiple: 0.33\nwidth_multiple: 0.50\nanchors:\n  - [10,13, 16,30, 33,23]\n"
      "  - [30,61, 62,45, 59,119]\n";
  const std::string plain = yolo(false, "[[9, 12], 1, Detect, [nc, anchors]]", top);
  // Three boxes a place with 85 numbers each, on 128 and 256 channels.
  const std::int64_t heads = 255 * (128 + 1) + 255 * (256 + 1);
  CHECK(parameters(plain, "") - heads ==
        parameters(yolo(false, "[[9, 12], 1, Detect, [nc, anchors]]",
                        "nc: 1\ndepth_multiple: 0.33\nwidth_multiple: 0.50\nanchors: 3\n"),
                   "") -
            18 * (128 + 1) - 18 * (256 + 1));
}

TEST_CASE("the file's name says the scale, and --image the side") {
  use_source_catalogs();
  const std::string text = yolo(true, "[[10, 13], 1, Detect, [nc]]");
  const auto made = import_model({"yolo11m.yaml", text}, {});
  CHECK(remarks(made, "scale m"));
  CHECK(remarks(import_model({"mine.yaml", text}, {}), "scale s"));
  ModelImportOptions options;
  options.image = 320;
  const double large = expanded_text(made).forward_gemm_flops().at(1),
               small =
                   expanded_text(import_model({"yolo11m.yaml", text}, options)).forward_gemm_flops().at(1);
  CHECK(large / small > 3.9);  // attention, which grows faster, is little of it
  CHECK(large / small < 4.3);
}

TEST_CASE("what a YAML of Ultralytics cannot say is refused at its place") {
  use_source_catalogs();
  const std::string plain = yolo(false, "[[9, 12], 1, Detect, [nc]]");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = plain;
    return mistakes_of(text.replace(text.find(from), from.size(), to));
  };
  CHECK_THAT(with("SPPF", "Other"), ContainsSubstring("file:13:13: error: the module Other is not known"));
  CHECK_THAT(with("[[-1, 4], 1", "[[-1, 40], 1"),
             ContainsSubstring("layer 8 takes a result that is not there"));
  CHECK_THAT(with("[-1, 3, C2f, [128, True]]", "[-1, 3, C2f]"),
             ContainsSubstring("a layer must be [from, repeats, module, [arguments]]"));
  CHECK_THAT(with("-1, 3, C3, [256]", "-1, 1e9, C3, [256]"),
             ContainsSubstring("repeats must be a whole number"));
  CHECK_THAT(with("Conv, [128, 3, 2]", "Conv, [128, 3000, 2]"),
             ContainsSubstring("Conv takes a whole number"));
  CHECK_THAT(with("[0.50, 0.25, 512]", "[0.50, 0.25]"), ContainsSubstring("a scale must be [depth, width"));
  CHECK_THAT(with("[0.50, 0.25, 512]", "[0.50, -1, 512]"),
             ContainsSubstring("a scale's number must be above 0"));
  CHECK_THAT(with("[0.50, 0.25, 512]", "[99999, 0.25, 512]"),
             ContainsSubstring("the scale makes more than 1000 repeats"));
  CHECK_THAT(with("  - [[9, 12], 1, Detect, [nc]]\n", ""), ContainsSubstring("the last layer is no head"));
  CHECK_THAT(with("nc: 5", "nc: 5\nend2end: True"), ContainsSubstring("end2end"));
  CHECK_THAT(mistakes_of("backbone: 3\nhead: [\n"), ContainsSubstring("error"));
  ModelImportOptions other;
  other.name = "z";
  CHECK_THROWS_AS(imported(plain, other), InputError);
}

}  // namespace ultralytics_yaml_test

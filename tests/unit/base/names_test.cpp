// Near misses among names.
#include "sim/base/names.hpp"

#include "tests/support/catch.hpp"

namespace names_test {

using namespace foretrain;

TEST_CASE("the distance counts changes, insertions, deletions and swaps of neighbours") {
  CHECK(edit_distance("puhti", "puhti") == 0);
  CHECK(edit_distance("puhti", "puhto") == 1);
  CHECK(edit_distance("puhti", "puhi") == 1);
  CHECK(edit_distance("puhti", "puhtii") == 1);
  CHECK(edit_distance("puhti", "puthi") == 1);  // two changes without the swap
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
}

TEST_CASE("the distance is symmetric") {
  CHECK(edit_distance("resnet50", "restnet18") == edit_distance("restnet18", "resnet50"));
  CHECK(edit_distance("ca", "abc") == edit_distance("abc", "ca"));
}

TEST_CASE("upper and lower case, hyphen and underscore are the same") {
  CHECK(edit_distance("ResNet50", "resnet50") == 0);
  CHECK(edit_distance("mnist-net", "mnist_net") == 0);
}

TEST_CASE("names of any length are compared by their first 64 characters") {
  CHECK(edit_distance(std::string(1'000'000, 'a'), std::string(64, 'a')) == 0);
  CHECK(edit_distance(std::string(1'000'000, 'a'), "") == 64);
}

TEST_CASE("the nearest names come best first, at most three") {
  const std::vector<std::string> known{"mahti", "puhti", "raven", "putti", "puhto", "puht"};
  CHECK(nearest_names("puhtj", known) ==
        std::vector<std::string>{"puht", "puhti", "puhto"});  // one change each, then by alphabet
  CHECK(nearest_names("puhtii", known, 1) == std::vector<std::string>{"puhti"});
  CHECK(nearest_names("zzzzzzzz", known).empty());
}

TEST_CASE("a name that contains another is near to it") {
  CHECK(nearest_names("resnet50", {"resnet50-imagenet-v2-large"}) ==
        std::vector<std::string>{"resnet50-imagenet-v2-large"});
  CHECK(nearest_names("a-very-long-puhti-name", {"puhti"}) == std::vector<std::string>{"puhti"});
  CHECK(nearest_names("ab", {"abcdefgh"}).empty());  // too short to mean it
}

TEST_CASE("the hint asks for one, two or three near names") {
  CHECK(did_you_mean("puhtj", {"puhti", "raven"}) == "did you mean \"puhti\"?");
  CHECK(did_you_mean("puhtj", {"puhti", "puhto"}) == "did you mean \"puhti\" or \"puhto\"?");
  CHECK(did_you_mean("puhtj", {"puhta", "puhti", "puhto"}) ==
        "did you mean \"puhta\", \"puhti\" or \"puhto\"?");
}

TEST_CASE("with nothing near the hint lists what is known") {
  CHECK(did_you_mean("quantum", {"json", "csv", "table"}) == "known: json, csv, table");
  CHECK(did_you_mean("quantum", {}).empty());
}

TEST_CASE("a long list is cut after twenty names") {
  std::vector<std::string> known;
  for (int i = 10; i < 40; ++i) known.push_back("n" + std::to_string(i));
  const std::string hint = did_you_mean("something else", known);
  CHECK_THAT(hint, ContainsSubstring("n10, n11"));
  CHECK_THAT(hint, ContainsSubstring("n29, …"));
  CHECK(hint.find("n30") == std::string::npos);
}

TEST_CASE("a name is found without the unit of its speed, where no other is meant") {
  const std::vector<std::string> known{"roce_100",  "roce_200", "eth_25",  "a100-40gb",
                                       "a100-80gb", "v100",     "v100-32g"};
  for (const char* typed :
       {"roce_100g", "RoCE-100G", "roce100gb", "roce_100gbe", "roce_100gbps", "roce100Gbit"}) {
    CHECK(spelt_alike(typed, known) == "roce_100");
  }
  CHECK(spelt_alike("eth25gbe", known) == "eth_25");
  CHECK(spelt_alike("a100-80", known) == "a100-80gb");
  CHECK(spelt_alike("a100-8gb", known).empty());  // another size
  CHECK(spelt_alike("a100", known).empty());
  CHECK(spelt_alike("gb", {"g"}).empty());  // no digit before it: a name, not a unit
  CHECK(spelt_alike("v100-32gb", known) == "v100-32g");
}

TEST_CASE("a name is found without regard to case, hyphens and underscores") {
  const std::vector<std::string> known{"zero3", "resnet50", "ib_hdr", "a-1", "a_1"};
  CHECK(spelt_alike("Zero-3", known) == "zero3");
  CHECK(spelt_alike("ResNet_50", known) == "resnet50");
  CHECK(spelt_alike("IB-HDR", known) == "ib_hdr");
  CHECK(spelt_alike("a_1", known) == "a_1");  // itself, although another is spelt alike
  CHECK(spelt_alike("A1", known).empty());    // two are
  CHECK(spelt_alike("zero4", known).empty());
  CHECK(spelt_alike("--", {"-"}).empty());
  CHECK(spelt_alike("", known).empty());
}

}  // namespace names_test

// Files that came with a question: they are read by their names, and beside them nothing but the catalogs.
#include "sim/scenario/toml/given_files.hpp"

#include <filesystem>
#include <fstream>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace given_files_test {

using namespace foretrain;

namespace {

const std::string kSource = FORETRAIN_SOURCE_DIR;

std::string refusal_of(const std::string& path) {
  try {
    read_text_file(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a given file is read by its name, and the disk is not asked") {
  const GivenFiles files({{"mine.toml", "a = 1\n"}, {"empty.toml", ""}}, {});
  CHECK(read_text_file("mine.toml").text == "a = 1\n");
  CHECK(is_readable_file("mine.toml"));
  CHECK_FALSE(is_readable_file("other.toml"));
  CHECK_THAT(refusal_of("empty.toml"), ContainsSubstring("is empty"));
  CHECK_THAT(refusal_of("other.toml"),
             ContainsSubstring("is not among the files that came with the question"));
  CHECK(text_file_refusal("mine.toml", 6).empty());
  CHECK(text_file_refusal("mine.toml", 5) == "is larger than 5 bytes");
}

TEST_CASE("a given file hides one of the machine with the same name") {
  const std::string path = kSource + "/README.md";
  const GivenFiles files({{path, "given\n"}}, {});
  CHECK(read_text_file(path).text == "given\n");
}

TEST_CASE("without given files, and after them, every file is read") {
  CHECK(GivenFiles::current() == nullptr);
  {
    const GivenFiles files({}, {});
    CHECK(GivenFiles::current() == &files);
    CHECK_FALSE(refusal_of(kSource + "/README.md").empty());
  }
  CHECK(GivenFiles::current() == nullptr);
  CHECK(refusal_of(kSource + "/README.md").empty());
}

TEST_CASE("of the machine only what lies in the folders is read, by whatever way its name goes there") {
  const GivenFiles files({}, {"/one/two", "/three/", "/"});
  const GivenFiles* all = GivenFiles::current();
  CHECK(all->lets_read("/anything"));
  CHECK(all->lets_read("relative"));  // the root holds it
}

TEST_CASE("a folder does not hold its neighbours, what begins alike, or what dots lead out to") {
  const GivenFiles files({}, {"/one/two", "/three/", ""});
  CHECK(files.lets_read("/one/two/a.toml"));
  CHECK(files.lets_read("/one/./two//sub/../a.toml"));
  CHECK(files.lets_read("/three/a.toml"));
  CHECK_FALSE(files.lets_read("/one/two.toml"));
  CHECK_FALSE(files.lets_read("/one/twofold/a.toml"));
  CHECK_FALSE(files.lets_read("/one/two/../a.toml"));
  CHECK_FALSE(files.lets_read("/one/two/../../etc/passwd"));
  CHECK_FALSE(files.lets_read("one/two/a.toml"));
  CHECK_FALSE(files.lets_read(""));
  CHECK_FALSE(files.lets_read(std::string("/one/two/../x\0/../two/a", 23)));
}

TEST_CASE("a folder named from where the program runs is the same as by its whole name") {
  const std::filesystem::path here = std::filesystem::current_path();
  const GivenFiles files({}, {"./catalogs/"});
  CHECK(files.lets_read("catalogs/a.toml"));
  CHECK(files.lets_read((here / "catalogs" / "a.toml").string()));
  CHECK_FALSE(files.lets_read((here / "a.toml").string()));
}

TEST_CASE("the folders of the catalogs hold every entry, and nothing that lies beside them") {
  test::use_source_catalogs();
  const GivenFiles files({}, catalog_folders());
  for (const CatalogKind kind : {CatalogKind::models, CatalogKind::clusters, CatalogKind::gpus,
                                 CatalogKind::links, CatalogKind::scenarios, CatalogKind::nodes,
                                 CatalogKind::transports, CatalogKind::datasets, CatalogKind::calibrations}) {
    for (const std::string& name : names_in(kind)) {
      INFO(noun_of(kind) << " " << name);
      CHECK(open_named(kind, name).has_value());
    }
  }
  CHECK_FALSE(files.lets_read(kSource + "/README.md"));
  CHECK_FALSE(files.lets_read(kSource + "/.git/config"));
  CHECK_THROWS_AS(open_named(CatalogKind::clusters, kSource + "/CMakePresets.json"), InputError);
}

}  // namespace given_files_test

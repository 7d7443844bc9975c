// The catalogs: names, roots, shadowing and hints, on folders made for the test and on the source tree.
#include "sim/scenario/catalog.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "tests/support/catch.hpp"

namespace catalog_test {

using namespace foretrain;

namespace {

namespace fs = std::filesystem;

/// A root with one GPU and one model; FORETRAIN_PATH points to it and then to the source tree.
class OwnCatalog {
 public:
  OwnCatalog() : root_(fs::temp_directory_path() / ("foretrain_catalog_" + std::to_string(::getpid()))) {
    fs::create_directories(root_ / "models");
    fs::create_directories(root_ / "topologies" / "gpus");
    std::ofstream(root_ / "models" / "resnet50.toml") << "# mine\n";
    std::ofstream(root_ / "topologies" / "gpus" / "mine.toml") << "# mine\n";
    std::ofstream(root_ / "topologies" / "gpus" / "notes.txt") << "not a GPU\n";
    setenv("FORETRAIN_PATH", (root_.string() + "::" FORETRAIN_SOURCE_DIR).c_str(), 1);
  }
  ~OwnCatalog() {
    fs::remove_all(root_);
    setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  }
  OwnCatalog(const OwnCatalog&) = delete;
  OwnCatalog& operator=(const OwnCatalog&) = delete;
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("names of all roots are listed once, sorted, and only TOML files count") {
  const OwnCatalog own;
  const auto gpus = names_in(CatalogKind::gpus);
  CHECK(contains(gpus, "mine"));
  CHECK(contains(gpus, "v100-sxm2-32gb"));
  CHECK(!contains(gpus, "notes"));
  CHECK(std::is_sorted(gpus.begin(), gpus.end()));
  const auto models = names_in(CatalogKind::models);
  CHECK(std::count(models.begin(), models.end(), "resnet50") == 1);
}

TEST_CASE("the first root that has a name wins") {
  const OwnCatalog own;
  CHECK(catalog_roots().front() == own.root().string());
  CHECK(open_named(CatalogKind::models, "resnet50")->text == "# mine\n");
}

TEST_CASE("a name with a slash or .toml is a path, any other must be in a catalog") {
  const OwnCatalog own;
  const std::string path = (own.root() / "models" / "resnet50.toml").string();
  CHECK(open_named(CatalogKind::clusters, path)->name == path);
  CHECK(open_named(CatalogKind::models, "resnet51") == std::nullopt);
  CHECK(open_named(CatalogKind::models, "Resnet5O") == std::nullopt);
  CHECK_THROWS_AS(open_named(CatalogKind::models, "resnet51.toml"), InputError);
}

TEST_CASE("a name cannot leave its catalog") {
  const OwnCatalog own;
  CHECK(open_named(CatalogKind::models, "..") == std::nullopt);
  CHECK(open_named(CatalogKind::models, "") == std::nullopt);
  CHECK(open_named(CatalogKind::models, std::string("a\0b", 3)) == std::nullopt);
  CHECK(open_named(CatalogKind::models, std::string(100'000, 'x')) == std::nullopt);
}

TEST_CASE("an unknown name gets the nearest ones") {
  const OwnCatalog own;
  CHECK(unknown_name_hint(CatalogKind::clusters, "puthi") ==
        "did you mean \"puhti\"? All: foretrain list clusters; your own: a file (CONTRIBUTING.md, Recipes), "
        "as in "
        "./mine.toml");
  CHECK_THAT(unknown_name_hint(CatalogKind::clusters, "zzzzzzzz"),
             ContainsSubstring("known: ") && ContainsSubstring("alps-gh200"));
}

TEST_CASE("for a machine in no catalog those with its GPU are named") {
  const OwnCatalog own;
  CHECK_THAT(unknown_name_hint(CatalogKind::clusters, "institute_of_nowhere-gh200"),
             ContainsSubstring("no such machine is in the catalog; with such GPUs there are alps-gh200") &&
                 ContainsSubstring("yours: foretrain topology new"));
  CHECK_THAT(unknown_name_hint(CatalogKind::clusters, "puthi"), ContainsSubstring("did you mean \"puhti\"?"));
}

TEST_CASE("a name in a text is reported where it stands instead of thrown") {
  const OwnCatalog own;
  const SourceText source{"t.toml", "cluster = \"puthi\"\nfile = \"no/such.toml\"\n"};
  Diagnostics diagnostics(source);
  CHECK(find_named(CatalogKind::clusters, "puthi", {1, 11, 7}, diagnostics) == std::nullopt);
  CHECK(find_named(CatalogKind::clusters, "no/such.toml", {2, 8, 14}, diagnostics) == std::nullopt);
  CHECK(format(diagnostics.found()) ==
        "t.toml:1:11: error: unknown cluster \"puthi\"\n"
        "  1 | cluster = \"puthi\"\n"
        "    |           ^^^^^^^\n"
        "  hint: did you mean \"puhti\"? All: foretrain list clusters; your own: a file (CONTRIBUTING.md, "
        "Recipes), as in ./mine.toml\n"
        "t.toml:2:8: error: no/such.toml does not exist\n"
        "  2 | file = \"no/such.toml\"\n"
        "    |        ^^^^^^^^^^^^^^\n"
        "2 errors\n");
}

TEST_CASE("the catalogs are found from the binary when no path is set") {
  unsetenv("FORETRAIN_PATH");
  const auto roots = catalog_roots();
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  for (const std::string& root : roots) CHECK(fs::is_directory(fs::path(root) / "models"));
}

TEST_CASE("names are found without regard to case and hyphens, unless two are spelt alike") {
  const OwnCatalog own;
  CHECK(open_named(CatalogKind::models, "ResNet-50")->text == "# mine\n");
  CHECK(open_named(CatalogKind::gpus, "V100_SXM2_32GB").has_value());
  CHECK_FALSE(open_named(CatalogKind::models, "ResNet-5").has_value());
  std::ofstream(own.root() / "models" / "resnet-50.toml") << "# another\n";
  CHECK(open_named(CatalogKind::models, "resnet-50")->text == "# another\n");
  CHECK(open_named(CatalogKind::models, "resnet50")->text == "# mine\n");
  CHECK_FALSE(open_named(CatalogKind::models, "RESNET_50").has_value());
}

}  // namespace catalog_test

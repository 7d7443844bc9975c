// Tests of the samples file: round trip, what counts as another machine, and files that cannot be read or
// written.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "calibrate/micro/plan/sample_store.hpp"
#include "tests/support/catch.hpp"

namespace bench_store_test {

using namespace foretrain;
using namespace foretrain::micro;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("foretrain-store-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

Sample example() {
  Sample sample;
  sample.kind = SampleKind::gemm;
  sample.what = "gemm";
  sample.value = 12.5;
  sample.spread = 0.01;
  sample.repeats = 20;
  sample.settings = {{"m", "128"}, {"precision", "fp16"}, {"clock_mhz", "1410"}};
  return sample;
}

}  // namespace

TEST_CASE("what is stored reads back, and nothing else is left in the folder") {
  const Folder folder;
  write_store(folder.file("x.csv"), {{"gpu", "NVIDIA A100"}, {"driver", "535.104"}}, {example()});
  write_store(folder.file("x.csv"), {{"gpu", "NVIDIA A100"}, {"driver", "535.104"}}, {example(), example()});
  const SampleFile read = read_store(folder.file("x.csv"));
  REQUIRE(read.samples.size() == 2);
  CHECK(key_of(read.samples[0]) == key_of(example()));
  CHECK(read.samples[1].value == 12.5);
  CHECK(read.provenance == Settings{{"gpu", "NVIDIA A100"}, {"driver", "535.104"}});
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a file that is not there or empty holds nothing") {
  const Folder folder;
  CHECK(read_store(folder.file("none.csv")).samples.empty());
  std::ofstream(folder.file("empty.csv"));
  CHECK(read_store(folder.file("empty.csv")).samples.empty());
  CHECK(read_store("-").samples.empty());
}

TEST_CASE("another table is refused, and a folder that is not there") {
  const Folder folder;
  std::ofstream(folder.file("other.csv")) << "a,b\n1,2\n";
  CHECK_THROWS_AS(read_store(folder.file("other.csv")), InputError);
  CHECK_THROWS_AS(write_store(folder.file("no/such/x.csv"), {}, {example()}), EnvironmentError);
}

TEST_CASE(
    "a link planted under the name of an earlier version's temporary file is not followed, and permissions "
    "stay") {
  const Folder folder;
  std::ofstream(folder.file("victim")) << "precious";
  std::filesystem::create_symlink(folder.file("victim"),
                                  folder.file("x.csv") + "." + std::to_string(::getpid()) + ".part");
  std::ofstream(folder.file("x.csv")) << "";
  std::filesystem::permissions(folder.file("x.csv"),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  write_store(folder.file("x.csv"), {}, {example()});
  std::ifstream victim(folder.file("victim"));
  CHECK(std::string(std::istreambuf_iterator<char>(victim), {}) == "precious");
  CHECK(std::filesystem::status(folder.file("x.csv")).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("GPU, driver and processor tell machines apart, where both say them") {
  const Settings a100{{"gpu", "A100"}, {"driver", "535"}, {"date", "monday"}};
  CHECK(mismatch(a100, {{"gpu", "A100"}, {"driver", "535"}, {"date", "tuesday"}}).empty());
  CHECK(mismatch(a100, {{"cpu", "EPYC"}}).empty());
  CHECK(mismatch(a100, {{"gpu", "V100"}}) == "gpu was A100, here it is V100");
  CHECK(mismatch({}, a100).empty());
  CHECK(merged_provenance(a100, {{"date", "tuesday"}, {"cpu", "EPYC"}}) ==
        Settings{{"date", "tuesday"}, {"cpu", "EPYC"}, {"gpu", "A100"}, {"driver", "535"}});
}

}  // namespace bench_store_test

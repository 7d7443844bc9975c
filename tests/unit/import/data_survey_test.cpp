// Data sets on the disk: what is seen, what is estimated, and that looking costs little whatever lies there.
#include "sim/import/data_survey.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace data_survey_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

class DataFolder {
 public:
  DataFolder() {
    std::string name = (fs::temp_directory_path() / "foretrain-data-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~DataFolder() { fs::remove_all(path_); }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  void write(const std::string& name, const std::string& first, std::size_t size) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << first << std::string(size - first.size(), 'x');
  }
  const fs::path& path() const { return path_; }
  DataSurvey survey(const SurveyLimits& limits = {}) const { return survey_data(path_.string(), limits); }

 private:
  fs::path path_;
};

const std::string kJpeg = "\xff\xd8\xff\xe0";

std::string notes_of(const DataSurvey& survey) {
  std::string out;
  for (const std::string& note : survey.notes) out += note + "\n";
  return out;
}

std::string refusal_of(const std::string& path) {
  try {
    survey_data(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a folder of images: their number, the median size, decode by format and size, all said") {
  const DataFolder folder;
  for (int i = 0; i < 10; ++i)
    folder.write("class" + std::to_string(i % 2) + "/" + std::to_string(i) + ".jpg", kJpeg,
                 i < 5 ? 110'000 : 120'000);
  const DataSurvey survey = folder.survey();
  CHECK(survey.samples == 10);
  CHECK(survey.stored_bytes.count == 120'000);
  CHECK(to_microseconds(survey.decode) == Approx(689 + 922.0 * 120 / 110));
  CHECK(survey.decode_spread == Approx(5.0 / 115));
  CHECK_THAT(notes_of(survey), ContainsSubstring("10 JPEG files of 120 kB in the median") &&
                                   ContainsSubstring("10 files opened") &&
                                   ContainsSubstring("is an estimate"));
}

TEST_CASE("ImageNet's folder costs what was measured on ImageNet") {
  const DataFolder folder;
  folder.write("n01440764/a.JPEG", kJpeg, 110'000);
  CHECK(to_microseconds(folder.survey().decode) == Approx(1611));
}

TEST_CASE(
    "only training samples count where they have a folder of their own, and only the format that most have") {
  const DataFolder folder;
  for (int i = 0; i < 9; ++i) folder.write("train/" + std::to_string(i) + ".png", "\x89PNG\r\n\x1a\n", 1000);
  folder.write("train/labels.csv", "a,b\n", 100);
  for (int i = 0; i < 50; ++i) folder.write("val/" + std::to_string(i) + ".png", "\x89PNG\r\n\x1a\n", 1000);
  CHECK(folder.survey().samples == 9);
}

TEST_CASE(
    "archives are told by their first bytes, their samples follow from a mean that is said to be assumed") {
  const DataFolder folder;
  const std::string tar = "name" + std::string(253, '\0') + "ustar";
  const std::string record = std::string("\x10\x27\0\0\0\0\0\0\1\2\3\4\n", 13) + std::string(20, 'p');
  for (const auto& [name, first] : {std::pair<std::string, std::string>{"a.tar", tar},
                                    {"a.h5", "\x89HDF\r\n\x1a\n"},
                                    {"a.parquet", "PAR1"},
                                    {"a.tfrecord", record}}) {
    INFO(name);
    folder.write(name, first, 1'100'000);
    const DataSurvey survey = survey_data((folder.path() / name).string());
    CHECK(survey.samples == 10);
    CHECK(survey.stored_bytes.count == 110'000);
    CHECK_THAT(notes_of(survey), ContainsSubstring("are not counted") && ContainsSubstring("assumed"));
  }
  CHECK(folder.survey().samples == 40);  // a folder of archives: all of its bytes
}

TEST_CASE("what is no data set is refused in a sentence") {
  const DataFolder folder;
  const std::string root = folder.path().string();
  CHECK_THAT(refusal_of(root), ContainsSubstring("no files are in it"));
  fs::create_directories(folder.path() / "hollow");
  for (const char* name : {"a.jpg", "b.jpg"}) std::ofstream(folder.path() / "hollow" / name);
  CHECK_THAT(refusal_of(root + "/hollow"), ContainsSubstring("2 files in it without a byte"));
  fs::remove_all(folder.path() / "hollow");
  CHECK_THAT(refusal_of(root + "/none"), ContainsSubstring("No such file"));
  CHECK_THAT(refusal_of("/dev/null"), ContainsSubstring("neither a file nor a folder"));
  folder.write("a.jpg", kJpeg, 100);
  CHECK_THAT(refusal_of(root + "/a.jpg"), ContainsSubstring("is no archive of samples, but one JPEG file"));
  folder.write("notes", "text", 10);
  CHECK_THAT(refusal_of(root + "/notes"), ContainsSubstring("is no archive of samples\n"));
  folder.write("empty", "", 0);
  CHECK_THAT(refusal_of(root + "/empty"), ContainsSubstring("is empty"));
  CHECK_THAT(refusal_of(std::string("a\0b", 3)), ContainsSubstring("--dataset a\\u0000b: has a NUL byte"));
}

TEST_CASE("an archive that the user names by a link is looked at") {
  const DataFolder folder;
  folder.write("a.h5", "\x89HDF\r\n\x1a\n", 220'000);
  fs::create_symlink(folder.path() / "a.h5", folder.path() / "link.h5");
  CHECK(survey_data((folder.path() / "link.h5").string()).samples == 2);
}

TEST_CASE("links are not followed, so a circle of them ends, pipes are not waited for") {
  const DataFolder folder;
  folder.write("a/1.jpg", kJpeg, 1000);
  fs::create_directory_symlink(folder.path(), folder.path() / "a" / "circle");
  fs::create_symlink(folder.path() / "a" / "1.jpg", folder.path() / "a" / "2.jpg");
  REQUIRE(::mkfifo((folder.path() / "a" / "pipe").c_str(), 0600) == 0);
  const DataSurvey survey = folder.survey();
  CHECK(survey.samples == 1);
  CHECK_THAT(notes_of(survey), ContainsSubstring("2 links not followed"));
}

TEST_CASE("a walk that is cut says so, and takes further folders to hold as much as those seen") {
  const DataFolder folder;
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 20; ++j)
      folder.write("c" + std::to_string(i) + "/" + std::to_string(j) + ".jpg", kJpeg, 100);
  }
  const DataSurvey cut = folder.survey({.entries = 70, .files = 10});
  CHECK(cut.samples >= 100);
  CHECK(cut.samples <= 300);
  CHECK_THAT(notes_of(cut),
             ContainsSubstring("the walk stopped after 70 entries") && ContainsSubstring("10 files opened"));
  const DataFolder flat;
  for (int j = 0; j < 50; ++j) flat.write(std::to_string(j) + ".jpg", kJpeg, 100);
  const DataSurvey some = flat.survey({.entries = 20, .files = 10});
  CHECK(some.samples == 20);
  CHECK_THAT(notes_of(some), ContainsSubstring("there are more samples than that"));
}

TEST_CASE("a hundred thousand files are looked at within a second, two hundred of them opened") {
  const DataFolder folder;
  folder.write("0.jpg", kJpeg, 100);
  for (int i = 1; i < 100'000; ++i) {
    if (i % 30'000 == 0) folder.write(std::to_string(i) + ".jpg", kJpeg, 100);
    // Hard links are files like any other, and quick to make; a file has at most 65,000 on ext4.
    else
      fs::create_hard_link(folder.path() / (std::to_string(i / 30'000 * 30'000) + ".jpg"),
                           folder.path() / (std::to_string(i) + ".jpg"));
  }
  const auto begin = std::chrono::steady_clock::now();
  const DataSurvey survey = folder.survey();
  CHECK(std::chrono::steady_clock::now() - begin <
        std::chrono::seconds(5));  // a second where nobody else works
  CHECK(survey.samples == 20'000);
  CHECK_THAT(notes_of(survey), ContainsSubstring("200 files opened, the walk stopped after 20000 entries"));
}

TEST_CASE("what may not be read is left out, and said, a folder that may not is refused") {
  if (::geteuid() == 0) FORETRAIN_SKIP("the superuser may read anything");
  const DataFolder folder;
  folder.write("a/1.jpg", kJpeg, 100);
  folder.write("b/1.jpg", kJpeg, 100);
  fs::permissions(folder.path() / "b", fs::perms::none);
  CHECK_THAT(notes_of(folder.survey()), ContainsSubstring("1 could not be read"));
  CHECK_THAT(refusal_of((folder.path() / "b").string()),
             ContainsSubstring("cannot be read: Permission denied"));
  fs::permissions(folder.path() / "b", fs::perms::owner_all);
}

TEST_CASE("folders in folders end") {
  const DataFolder folder;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "d/";
  folder.write(deep + "x.jpg", kJpeg, 100);
  CHECK_THAT(refusal_of(folder.path().string()), ContainsSubstring("no files are in it"));
}

}  // namespace data_survey_test

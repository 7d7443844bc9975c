// `foretrain sweep merge` deletes and overwrites nothing that it did not write itself, whatever files are
// called.
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "sim/report/sweep/sweep_database.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/sweep/swept_folder.hpp"

namespace sweep_merge_test {

using namespace foretrain;
using test::ProgramRun;
using test::Swept;

namespace {

namespace fs = std::filesystem;

/// The sweep in two shards beside the whole.
struct Shards : Swept {
  Shards() {
    succeed("run sweep.toml --db 1.sqlite --shard 1/2");
    succeed("run sweep.toml --db 2.sqlite --shard 2/2");
  }
  void move(const std::string& from, const std::string& to) const { fs::rename(path() / from, path() / to); }
  bool has(const std::string& name) const { return fs::exists(path() / name); }
  /// Every file with its bytes.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> out;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path()))
      if (entry.is_regular_file())
        out[fs::relative(entry.path(), path()).string()] = read(fs::relative(entry.path(), path()).string());
    return out;
  }
};

}  // namespace

TEST_CASE("sources and notes that are named like parts of the result survive a merge into it") {
  const Shards folder;
  folder.move("1.sqlite", "joined.part-1000.sqlite");
  folder.move("2.sqlite", "joined.part-99999999");
  folder.write("joined.part-99999-notes.txt", "notes");
  fs::create_directory(folder.path() / "joined.parts");
  folder.write("joined.parts/notes.txt", "more notes");
  auto before = folder.files();
  const std::string said = folder.succeed("merge joined.part-1000.sqlite joined.part-99999999 -o joined");
  CHECK_THAT(said, ContainsSubstring("16 cases of 2 files"));
  CHECK_THAT(said, ContainsSubstring("joined.parts holds 1 file of merges that did not end"));
  const auto after = folder.files();
  for (const auto& [name, bytes] : before) {
    INFO(name);
    REQUIRE(after.contains(name));
    CHECK(after.at(name) == bytes);
  }
  CHECK(after.size() == before.size() + 1);
  CHECK(folder.rows("joined").size() == 16);
}

TEST_CASE("a part of a killed merge, on this machine or another one, stays where it is and can be a source") {
  const Shards folder;
  fs::create_directory(folder.path() / "joined.parts");
  folder.move("1.sqlite", "joined.parts/node17-99999999-0.sqlite");
  const std::string left = folder.read("joined.parts/node17-99999999-0.sqlite");
  folder.succeed("merge joined.parts/node17-99999999-0.sqlite 2.sqlite -o joined");
  CHECK(folder.read("joined.parts/node17-99999999-0.sqlite") == left);
  CHECK(folder.rows("joined").size() == 16);
}

TEST_CASE("the folder of parts is there only while a merge is at work") {
  const Shards folder;
  folder.succeed("merge 1.sqlite 2.sqlite -o joined.sqlite");
  CHECK_FALSE(folder.has("joined.sqlite.parts"));
  folder.write("folder.parts", "a file");
  folder.refuse("merge 1.sqlite 2.sqlite -o folder", "folder.parts, the folder of unfinished merges", 3);
  CHECK(folder.read("folder.parts") == "a file");
  CHECK_FALSE(folder.has("folder"));
}

TEST_CASE("a result that would overwrite one of its sources is refused, by whatever name") {
  const Shards folder;
  fs::create_symlink("1.sqlite", folder.path() / "link.sqlite");
  fs::create_hard_link(folder.path() / "1.sqlite", folder.path() / "hard.sqlite");
  const auto before = folder.files();
  for (const char* output : {"1.sqlite", "./1.sqlite", "link.sqlite", "hard.sqlite"})
    folder.refuse(fmt::format("merge 2.sqlite 1.sqlite -o {}", output),
                  "1.sqlite is a source and would be overwritten");
  CHECK(folder.files() == before);
}

TEST_CASE("a source that SQLite would take for a log of another file is refused") {
  const Shards folder;
  folder.move("1.sqlite", "joined-wal");
  folder.refuse("merge joined-wal 2.sqlite -o joined",
                "joined-wal is a source and has the name of a log of joined");
  folder.move("joined-wal", "2.sqlite-journal");
  folder.refuse("merge 2.sqlite-journal 2.sqlite -o joined", "has the name of a log of 2.sqlite");
  folder.move("2.sqlite-journal", "1.sqlite");
  folder.write("joined-wal", "notes");
  folder.refuse("merge 1.sqlite 2.sqlite -o joined", "joined-wal is there without joined");
  CHECK(folder.read("joined-wal") == "notes");
  CHECK(folder.rows("2.sqlite").size() + folder.rows("1.sqlite").size() == 16);
}

TEST_CASE("an older result is replaced when all of its cases are in the new one, and else it stays") {
  const Shards folder;
  folder.succeed("merge 1.sqlite -o joined.sqlite");
  folder.succeed("merge 1.sqlite 2.sqlite -o joined.sqlite");
  CHECK(folder.rows("joined.sqlite").size() == 16);
  const std::string whole = folder.read("joined.sqlite");
  folder.refuse("merge 2.sqlite -o joined.sqlite", "that no source has, and they would be lost");
  folder.write("other.toml", "scenario = \"workshop-mnist-ddp\"\n[axes]\nbatch = [64]\ngpus = [1]\n");
  folder.succeed("run other.toml --db other.sqlite");
  folder.refuse("merge other.sqlite -o joined.sqlite", "joined.sqlite holds another sweep");
  folder.write("notes.txt", "notes");
  folder.refuse("merge 1.sqlite -o notes.txt", "notes.txt: is no SQLite file");
  CHECK(folder.read("joined.sqlite") == whole);
  CHECK(folder.read("notes.txt") == "notes");
  CHECK_FALSE(folder.has("joined.sqlite.parts"));
}

TEST_CASE("a case that ended its worker in one file has the figures of another one, in either order") {
  const Shards folder;
  folder.succeed("run sweep.toml --db good.sqlite");
  {
    SqlFile file((folder.path() / "all.sqlite").string(), SqlAccess::write);
    file.run(
        fmt::format("UPDATE cases SET message = '{}by SIGKILL', step_s = NULL WHERE number = 3", kEndedCase));
  }
  folder.succeed("merge all.sqlite good.sqlite -o 3.sqlite");
  folder.succeed("merge good.sqlite all.sqlite -o 4.sqlite");
  for (const char* merged : {"3.sqlite", "4.sqlite"}) {
    CHECK(folder.rows(merged, "--failed").empty());
    CHECK(folder.rows(merged) == folder.rows("good.sqlite"));
  }
  folder.succeed("merge good.sqlite -o all.sqlite");
  folder.succeed("merge all.sqlite -o good.sqlite");
  {
    SqlFile file((folder.path() / "good.sqlite").string(), SqlAccess::write);
    file.run("UPDATE cases SET step_s = 7 WHERE number = 3");
  }
  folder.refuse("merge all.sqlite good.sqlite -o 5.sqlite", "1 case that another file answers differently");
}

}  // namespace sweep_merge_test

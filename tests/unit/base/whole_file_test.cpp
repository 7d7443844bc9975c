// A file is there whole or as before, whatever lies at its name and however the program ends.
#include "sim/base/whole_file.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace whole_file_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that goes away at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "foretrain-whole-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct stat status_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

void refuse(const std::string& path, const std::string& why) {
  try {
    write_whole_file(path, "x");
    FAIL("nothing was thrown");
  } catch (const EnvironmentError& error) {
    CHECK_THAT(error.what(), ContainsSubstring(path + ": cannot be written: " + why));
  }
}

/// The status with which a child ends that runs `work` and then exits with 0, or 7 after an exception.
template <class Work>
int status_of_child(const Work& work, const std::function<void(pid_t)>& beside = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGTERM, SIGINT, SIGSEGV, SIGABRT})
      std::signal(signal, SIG_DFL);  // those of the tests' framework
    try {
      work();
    } catch (...) {
      ::_exit(7);
    }
    ::_exit(0);
  }
  if (beside) beside(child);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("a new file holds the bytes, has the permissions that the mask leaves, and nothing else is left") {
  const Folder folder;
  const mode_t before = ::umask(027);
  write_whole_file(folder / "out", std::string("a\0b\n", 4));
  ::umask(before);
  CHECK(content(folder / "out") == std::string("a\0b\n", 4));
  CHECK((status_of(folder / "out").st_mode & 0777) == 0640);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that is there is replaced and keeps its permissions") {
  const Folder folder;
  for (const mode_t mode : {0600u, 0644u, 0755u, 0606u}) {
    write_whole_file(folder / "out", "a much longer first text");
    REQUIRE(::chmod((folder / "out").c_str(), mode) == 0);
    const ino_t before = status_of(folder / "out").st_ino;
    const int opened =
        ::open((folder / "out").c_str(), O_RDONLY);  // keeps the number of the old file from being used again
    write_whole_file(folder / "out", "short");
    ::close(opened);
    CHECK(content(folder / "out") == "short");
    CHECK((status_of(folder / "out").st_mode & 0777) == mode);
    CHECK(status_of(folder / "out").st_ino != before);
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE("a file that may not be written is not replaced") {
  if (::geteuid() == 0) FORETRAIN_SKIP("the superuser may write anything");
  const Folder folder;
  write_whole_file(folder / "out", "kept");
  REQUIRE(::chmod((folder / "out").c_str(), 0444) == 0);
  refuse(folder / "out", "Permission denied");
  CHECK(content(folder / "out") == "kept");
}

TEST_CASE("a link keeps pointing where it does, also when nothing is there yet, and over several links") {
  const Folder folder;
  fs::create_directory(folder / "there");
  fs::create_symlink("there/real", folder / "second");
  fs::create_symlink("second", folder / "first");
  for (const char* text : {"new", "newer"}) {
    write_whole_file(folder / "first", text);
    CHECK(fs::is_symlink(folder / "first"));
    CHECK(fs::is_symlink(folder / "second"));
    CHECK(fs::is_regular_file(fs::symlink_status(folder / "there/real")));
    CHECK(content(folder / "there/real") == text);
  }
  CHECK(folder.entries() == 3);
}

TEST_CASE("links in a circle are reported") {
  const Folder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  refuse(folder / "a", "Too many levels of symbolic links");
}

TEST_CASE("all names of a file show the new text") {
  const Folder folder;
  write_whole_file(folder / "one", "a much longer first text");
  fs::create_hard_link(folder / "one", folder / "two");
  write_whole_file(folder / "one", "short");
  CHECK(content(folder / "one") == "short");
  CHECK(content(folder / "two") == "short");
  CHECK(status_of(folder / "one").st_nlink == 2);
}

TEST_CASE("a link that somebody put where an earlier version wrote its temporary file is not followed") {
  const Folder folder;
  write_whole_file(folder / "victim", "precious");
  const std::string planted = (folder / "out.") + std::to_string(::getpid()) + ".part";
  fs::create_symlink(folder / "victim", planted);
  write_whole_file(folder / "out", "text");
  CHECK(content(folder / "victim") == "precious");
  CHECK(content(folder / "out") == "text");
}

TEST_CASE("an entry is replaced, not written through") {
  const Folder folder;
  write_whole_file(folder / "victim", "precious");
  fs::create_symlink(folder / "victim", folder / "entry");
  replace_entry(folder / "entry", "text");
  CHECK(content(folder / "victim") == "precious");
  CHECK_FALSE(fs::is_symlink(folder / "entry"));
  CHECK(content(folder / "entry") == "text");
  CHECK(folder.entries() == 2);
}

TEST_CASE("a folder is left alone") {
  const Folder folder;
  fs::create_directory(folder / "out");
  refuse(folder / "out", "Is a directory");
  refuse(folder / "out/", "Is a directory");
  refuse(folder / "missing/", "No such file or directory");
  CHECK(fs::is_empty(folder / "out"));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a pipe is written to where somebody reads it, and refused at once where nobody does") {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  refuse(pipe, "nobody reads from this pipe");
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  write_whole_file(pipe, "through");
  std::array<char, 16> got{};
  const auto length = ::read(reader, got.data(), got.size());
  ::close(reader);
  CHECK(fs::is_fifo(pipe));
  CHECK(std::string(got.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))) == "through");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a device takes what is written, a full one does not, and a socket is none") {
  const Folder folder;
  CHECK_NOTHROW(write_whole_file("/dev/null", "gone"));
  CHECK(fs::is_character_file("/dev/null"));
  refuse("/dev/full", "No space left on device");
  const std::string name = folder / "socket";
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  refuse(name, "a disk or a socket is no place for a file");
  ::close(socket);
}

TEST_CASE("names that are too long, in no folder or empty are reported") {
  const Folder folder;
  refuse(folder / std::string(5000, 'x'), "File name too long");
  refuse(folder / std::string(256, 'x'), "File name too long");
  refuse(folder / "no/such/out", "No such file or directory");
  refuse("", "No such file or directory");
  write_whole_file(folder / std::string(255, 'x'), "the longest name there is");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that grows beyond what the system allows leaves what was there") {
  const Folder folder;
  write_whole_file(folder / "out", "kept");
  const int status = status_of_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    write_whole_file(folder / "out", std::string(3 << 20, 'x'));
  });
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  CHECK(content(folder / "out") == "kept");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a program that is told to end while it writes leaves the file whole and nothing beside it") {
  const std::string text(8 << 20, 'x');
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    const Folder folder;
    const auto write_for_ever = [&] {
      for (;;) write_whole_file(folder / "out", text);
    };
    const int status = status_of_child(write_for_ever, [&](pid_t child) {
      while (!fs::exists(folder / "out")) ::usleep(100);
      ::kill(child, signal);
    });
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == signal));
    CHECK(fs::file_size(folder / "out") == text.size());
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE(
    "a signal that the program ignores stays ignored, and one that it handles comes when the file is whole") {
  const Folder folder;
  static volatile std::sig_atomic_t handled = 0;
  const auto before_hup = std::signal(SIGHUP, SIG_IGN);
  const auto before_usr = std::signal(SIGUSR2, [](int) { handled = 1; });
  ::raise(SIGHUP);
  write_whole_file(folder / "out", "whole");
  ::raise(SIGUSR2);
  std::signal(SIGHUP, before_hup);
  std::signal(SIGUSR2, before_usr);
  CHECK(handled == 1);  // the mask is as it was
  CHECK(content(folder / "out") == "whole");
}

TEST_CASE("behind links is the name that a file would have") {
  const Folder folder;
  CHECK(behind_links(folder / "none") == folder / "none");
  fs::create_symlink("/nowhere/at/all", folder / "link");
  CHECK(behind_links(folder / "link") == "/nowhere/at/all");
}

TEST_CASE("a program that is killed while it writes leaves the file as it was, and no other file") {
  const Folder folder;
  const int unnamed = ::open((folder / ".").c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (unnamed < 0) {
    WARN("this file system has no files without a name");
    return;
  }
  ::close(unnamed);
  write_whole_file(folder / "out", "old");
  const std::string text(64 << 20, 'x');
  for (int i = 0; i < 20; ++i) {
    const pid_t writer = ::fork();
    if (writer == 0) {
      write_whole_file(folder / "out", text);
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(500 * i));
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    // The moment in which it has a name of its own is short, and what is left in it can be removed.
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / ""))
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
    remove_left_parts(folder / "out");
    CHECK(folder.entries() == 1);
    const std::size_t bytes = fs::file_size(folder / "out");
    CHECK((bytes == 3 || bytes == text.size()));
  }
}

TEST_CASE("only parts that are old, and that nobody writes to, are taken for left ones") {
  const Folder folder;
  const std::string old = folder / "foretrain-0123456789abcdef.part";
  const std::string names[] = {old,
                               folder / "foretrain-0123456789abcdee.part",
                               folder / "foretrain-0123456789abcde.part",
                               folder / "foretrain-0123456789abcdeX.part",
                               folder / "notes-0123456789abcdef.part",
                               folder / "foretrain-0123456789abcdef.part.txt"};
  for (const std::string& name : names) {
    std::ofstream(name) << "text";
    if (name != names[1]) fs::last_write_time(name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  const int writer = ::open(old.c_str(), O_WRONLY);
  REQUIRE(::flock(writer, LOCK_EX) == 0);
  remove_left_parts(folder / "out");
  CHECK(folder.entries() == 6);
  ::close(writer);
  remove_left_parts(folder / "out");
  CHECK(folder.entries() == 5);
  CHECK_FALSE(fs::exists(old));
}

}  // namespace whole_file_test

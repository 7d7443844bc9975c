// Reading waits for bytes that somebody is about to write, and for no others.
#include "sim/base/input_file.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace input_file_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that goes away at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "foretrain-input-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string pipe() const {
    const std::string name = (path_ / "pipe").string();
    REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
    return name;
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string text_of(const std::string& path) {
  InputFile file(path);
  std::string text, block(7, '\0');
  while (const std::size_t got = file.read(block.data(), block.size())) text.append(block, 0, got);
  return text;
}

/// Writes in two parts, so late that the reader is there before each.
void write_late(const std::string& path) {
  using namespace std::chrono_literals;
  std::this_thread::sleep_for(100ms);
  const int file = ::open(path.c_str(), O_WRONLY);
  for (const char* part : {"first part, ", "second part"}) {
    std::this_thread::sleep_for(100ms);
    [[maybe_unused]] const ssize_t written = ::write(file, part, std::char_traits<char>::length(part));
  }
  ::close(file);
}

}  // namespace

TEST_CASE("a file is read to its end") {
  const Folder folder;
  std::ofstream(folder / "file") << "more than a block";
  CHECK(text_of((folder / "file").string()) == "more than a block");
}

TEST_CASE("a named pipe that nobody writes to is refused after some seconds") {
  const Folder folder;
  const std::string pipe = folder.pipe();
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(text_of(pipe), ContainsSubstring("/pipe: error: is a pipe that nobody writes to\n"));
  CHECK(std::chrono::steady_clock::now() - begin >=
        std::chrono::milliseconds(InputFile::kPatienceMilliseconds));
  CHECK_THROWS_AS(InputBuffer(pipe), InputError);
}

TEST_CASE("a named pipe is read from a writer that comes late and is slow") {
  const Folder folder;
  const std::string pipe = folder.pipe();
  std::thread writer(write_late, pipe);
  CHECK(text_of(pipe) == "first part, second part");
  writer.join();
  std::thread again(write_late, pipe);
  InputBuffer buffer(pipe);
  std::istream stream(&buffer);
  CHECK(std::string(std::istreambuf_iterator<char>(stream), {}) == "first part, second part");
  again.join();
}

TEST_CASE("a pipe without a name, as of a shell's <(…), is read after its writer has gone") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  if (!fs::exists(path)) FORETRAIN_SKIP("no /dev/fd here");
  REQUIRE(::write(ends[1], "all", 3) == 3);
  ::close(ends[1]);
  CHECK(text_of(path) == "all");
  CHECK(text_of(path).empty());
  ::close(ends[0]);
}

TEST_CASE("a folder and a socket are refused") {
  const Folder folder;
  CHECK_THROWS_WITH(InputFile((folder / ".").string()), ContainsSubstring("error: is a folder, not a file"));
  const std::string name = (folder / "socket").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK_THROWS_WITH(InputFile(name), ContainsSubstring("error: is a socket, not a file"));
  ::close(socket);
}

TEST_CASE("a terminal that nobody types at is refused, unless it is standard input") {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0)
    FORETRAIN_SKIP("no pseudo-terminal here");
  const std::string terminal = ::ptsname(master);
  CHECK_THROWS_WITH(text_of(terminal), ContainsSubstring("error: is a device that has no bytes to read"));
  ::close(master);
}

TEST_CASE("a file that cannot be opened says why") {
  CHECK_THROWS_WITH(InputFile("/no/such/file"), "cannot read /no/such/file: No such file or directory");
  CHECK_THROWS_AS(InputFile("/no/such/file"), EnvironmentError);
}

}  // namespace input_file_test

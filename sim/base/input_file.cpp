// Opening and reading do not block. read() returns 0 both from a named pipe without a writer so far and from
// one whose writer has gone. Only a hang-up that poll() reports tells the two apart. With a writer and no
// bytes, read() gives EAGAIN.
#include "sim/base/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// Pause between two looks at a pipe without a writer.
constexpr std::chrono::milliseconds kBetweenLooks{10};

/// Throws InputError for the file as a whole.
[[noreturn]] void refuse(const std::string& path, std::string why, std::string hint) {
  throw InputError(std::vector<Diagnostic>{{path, {}, "", std::move(why), std::move(hint)}});
}

/// Throws EnvironmentError with the cause in errno.
[[noreturn]] void fail_to_read(const std::string& path) {
  throw EnvironmentError(
      fmt::format("cannot read {}: {}", shortened(path), std::generic_category().message(errno)));
}

/// Returns whether the file is the same as standard input, by device and inode.
bool is_standard_input(const struct stat& found) {
  struct stat input {};
  return ::fstat(STDIN_FILENO, &input) == 0 && input.st_dev == found.st_dev && input.st_ino == found.st_ino;
}

/// Throws InputError for kinds of file that cannot be read. A socket is accepted as standard input only.
void refuse_other_kinds(const std::string& path, const struct stat& found) {
  if (S_ISDIR(found.st_mode)) refuse(path, "is a folder, not a file", "");
  if (S_ISBLK(found.st_mode)) refuse(path, "is a disk, not a file", "give a file of it");
  if (S_ISSOCK(found.st_mode) && !is_standard_input(found))
    refuse(path, "is a socket, not a file", "write what it sends to a file first");
}

/// Opens the file without blocking and returns its descriptor. A socket cannot be opened by its name: if
/// standard input is one, as under Node, its descriptor is duplicated instead.
int opened(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor >= 0 || errno != ENXIO || path != "/dev/stdin") return descriptor;
  return ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path), descriptor_(opened(path)) {
  struct stat found {};
  if (descriptor_ < 0) {
    const int cause = errno;
    // The system's cause is often vague (ENXIO for a socket), so the kind of file is checked first.
    if (::stat(path.c_str(), &found) == 0) refuse_other_kinds(path, found);
    errno = cause;
    fail_to_read(path);
  }
  try {
    if (::fstat(descriptor_, &found) != 0) fail_to_read(path);
    refuse_other_kinds(path, found);
    is_pipe_ = S_ISFIFO(found.st_mode);
    if (!is_standard_input(found)) return;
    // Standard input blocks like that of any filter.
    ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
    had_writer_ = true;
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::read(char* block, std::size_t size) {
  while (true) {
    const ssize_t got = ::read(descriptor_, block, size);
    if (got > 0) {
      had_writer_ = true;
      return static_cast<std::size_t>(got);
    }
    if (got == 0 && !may_get_writer()) return 0;
    // The pipe has no writer yet: try again a little later.
    if (got == 0)
      std::this_thread::sleep_for(kBetweenLooks);
    else if (errno == EAGAIN)
      wait_for_writer();
    else if (errno != EINTR)
      fail_to_read(path_);
  }
}

bool InputFile::may_get_writer() const {
  if (!is_pipe_ || had_writer_) return false;
  pollfd look{.fd = descriptor_, .events = POLLIN, .revents = 0};
  ::poll(&look, 1, 0);
  if ((look.revents & POLLHUP) != 0) return false;
  if (std::chrono::steady_clock::now() - opened_ > std::chrono::milliseconds(kPatienceMilliseconds))
    refuse(path_, "is a pipe that nobody writes to",
           "start the command that writes to it first, or give its output as standard input");
  return true;
}

void InputFile::wait_for_writer() {
  // The device would block, and nobody says when it has bytes.
  if (!is_pipe_) refuse(path_, "is a device that has no bytes to read", "give a file");
  had_writer_ = true;
  pollfd look{.fd = descriptor_, .events = POLLIN, .revents = 0};
  ::poll(&look, 1, -1);
}

InputBuffer::InputBuffer(const std::string& path) : file_(path) { underflow(); }

InputBuffer::int_type InputBuffer::underflow() {
  const std::size_t got = file_.read(block_.data(), block_.size());
  setg(block_.data(), block_.data(), block_.data() + got);
  return got == 0 ? traits_type::eof() : traits_type::to_int_type(block_[0]);
}

}  // namespace foretrain

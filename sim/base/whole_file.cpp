// Writing by rename: the rename is the only moment at which the final name changes.
//
// If the file system supports it (O_TMPFILE), the new file has no name until its bytes are on the disk. A
// program that is killed then leaves a file behind only between its last two calls, linkat() and rename().
// Otherwise the file has an unguessable name from the beginning. A file that is being written is locked by
// its writer, so that remove_left_parts() of another program spares it.
#include "sim/base/whole_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

/// Bytes between two checks for signals.
constexpr std::size_t kWrittenAtOnce = 1 << 20;
/// Links to follow before the path counts as circular, and attempts at a free name.
constexpr int kMostLinksInARow = 40, kMostNamesTried = 100;
/// Names of parts are "foretrain-", sixteen hexadecimal digits and ".part".
constexpr std::string_view kPartBegin = "foretrain-", kPartEnd = ".part";
constexpr std::size_t kPartDigits = 16;
/// Age in s below which a part is kept: its writer may not have locked it yet.
constexpr std::time_t kOldPartS = 60;
/// The mode of a new file (before the umask), the mode of a part until it gets the other file's permissions,
/// and the mask of permissions.
constexpr mode_t kModeOfNewFiles = 0666, kModeOfOthersText = 0600, kPermissions = 0777;

[[noreturn]] void fail_to_write(const std::string& path, std::string_view cause) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", path, cause));
}

[[noreturn]] void fail_to_write(const std::string& path) {
  fail_to_write(path, std::generic_category().message(errno));
}

/// Blocks the signals that would end the program while an object lives. Ignored signals stay ignored.
class HeldSignals {
 public:
  HeldSignals() {
    ::sigemptyset(&held_);
    for (const int signal : kEnding) {
      struct sigaction action {};
      if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
        ::sigaddset(&held_, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Returns whether a signal that only this object holds back is pending.
  bool has_come() const {
    sigset_t waiting{};
    ::sigpending(&waiting);
    return std::any_of(kEnding.begin(), kEnding.end(), [&](int signal) {
      return ::sigismember(&waiting, signal) == 1 && ::sigismember(&held_, signal) == 1 &&
             ::sigismember(&before_, signal) == 0;
    });
  }

 private:
  static constexpr std::array<int, 7> kEnding{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
  sigset_t held_{}, before_{};
};

/// A file that is open for writing. After a call that fails, errno has the cause.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

  /// Writes the whole text; interrupted calls are repeated.
  bool write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno != EINTR) return false;
      text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
  }

  /// Waits until the bytes are on the disk, if the file system supports that.
  bool is_on_disk() const { return ::fdatasync(descriptor_) == 0 || errno == EINVAL || errno == ENOTSUP; }

  /// Closes the file and returns whether that worked; some file systems report write errors only here.
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

/// Returns a random number of the system. Throws EnvironmentError if there is none.
std::uint64_t number_nobody_knows() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
    throw EnvironmentError("the system has no random numbers");
  return number;
}

std::string unguessable_name(const fs::path& folder) {
  return (folder / fmt::format("{}{:016x}{}", kPartBegin, number_nobody_knows(), kPartEnd)).string();
}

/// Returns whether the name is one that unguessable_name() makes.
bool is_part_name(std::string_view name) {
  return name.size() == kPartBegin.size() + kPartDigits + kPartEnd.size() && name.starts_with(kPartBegin) &&
         name.ends_with(kPartEnd) &&
         name.substr(kPartBegin.size(), kPartDigits).find_first_not_of("0123456789abcdef") ==
             std::string_view::npos;
}

/// Creates a file with an unguessable name in `folder` and returns its descriptor. On -1, errno has the
/// cause.
int create_unguessable(const fs::path& folder, mode_t mode, std::string& name) {
  for (int i = 0; i < kMostNamesTried; ++i) {
    name = unguessable_name(folder);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

/// Creates a file without a name in `folder` and returns its descriptor. Returns -1 where that is impossible,
/// or where the file could not get a name later (without /proc).
int create_unnamed(const fs::path& folder, mode_t mode) {
#ifdef O_TMPFILE
  if (::access("/proc/self/fd", X_OK) != 0) return -1;
  return ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
#else
  return -1;
#endif
}

/// The moment at which a new file gets a name.
enum class Naming : std::uint8_t { at_the_end, at_once };

/// A new file in the folder of `target`. It is removed at the end, unless it took the target's name.
class PartFile {
 public:
  PartFile(const std::string& target, mode_t mode, Naming naming)
      : target_(target),
        file_(naming == Naming::at_once ? create_unguessable(folder(), mode, name_)
                                        : create_unnamed(folder(), mode)) {
    // The lock protects the file from remove_left_parts() of another program.
    if (is_open()) ::flock(file_.descriptor(), LOCK_EX | LOCK_NB);
  }
  ~PartFile() {
    if (!name_.empty() && (file_.descriptor() >= 0 || is_left_)) ::unlink(name_.c_str());
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  bool is_open() const { return file_.descriptor() >= 0; }

  /// Gives the file the owner, the group and the permissions of another one. Returns false if that is not
  /// permitted.
  bool becomes_like(const struct stat& other) const {
    struct stat own {};
    if (::fstat(file_.descriptor(), &own) != 0) return false;
    const bool is_same = own.st_uid == other.st_uid && own.st_gid == other.st_gid;
    if (!is_same && ::fchown(file_.descriptor(), other.st_uid, other.st_gid) != 0) return false;
    return ::fchmod(file_.descriptor(), other.st_mode & kPermissions) == 0;
  }

  /// Writes the text in pieces. Returns false with errno EINTR when a signal has come in between.
  bool write(std::string_view text, const HeldSignals& signals) const {
    for (; !text.empty(); text.remove_prefix(std::min(kWrittenAtOnce, text.size()))) {
      errno = EINTR;
      if (signals.has_come() || !file_.write(text.substr(0, kWrittenAtOnce))) return false;
    }
    return true;
  }

  /// Gives the file the target's name. Its bytes go to the disk first; otherwise a machine that fails soon
  /// after could have the new name without the bytes.
  bool take_name() {
    if (!file_.is_on_disk() || !has_name()) return false;
    is_left_ = true;
    if (!file_.close() || ::rename(name_.c_str(), target_.c_str()) != 0) return false;
    is_left_ = false;
    return true;
  }

  /// Returns whether the file never got a name. A second attempt with a name from the beginning may then
  /// succeed.
  bool is_nameless() const { return name_.empty(); }

 private:
  fs::path folder() const { return fs::path(target_).parent_path(); }

  /// Gives a nameless file an unguessable name through /proc. Returns whether it has one.
  bool has_name() {
    const std::string own = fmt::format("/proc/self/fd/{}", file_.descriptor());
    for (int i = 0; i < kMostNamesTried && name_.empty(); ++i) {
      const std::string name = unguessable_name(folder());
      if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
        name_ = name;
      else if (errno != EEXIST)
        return false;
    }
    return !name_.empty();
  }

  std::string target_, name_;
  OpenFile file_;
  /// Closed, but without the target's name.
  bool is_left_ = false;
};

/// Replaces `target` as a whole. `path` is the name for messages. `there` describes the present file, or is
/// nullptr. Returns false if the owner or the permissions cannot be kept; throws EnvironmentError on any
/// other failure.
bool replace_whole(const std::string& path, const std::string& target, const struct stat* there,
                   std::string_view text) {
  const HeldSignals signals;
  for (const Naming naming : {Naming::at_the_end, Naming::at_once}) {
    PartFile part(target, there == nullptr ? kModeOfNewFiles : kModeOfOthersText, naming);
    if (naming == Naming::at_the_end && !part.is_open()) continue;
    if (!part.is_open()) fail_to_write(path);
    if (there != nullptr && !part.becomes_like(*there)) return false;
    if (!part.write(text, signals)) fail_to_write(path);
    if (part.take_name()) return true;
    if (!part.is_nameless()) fail_to_write(path);
  }
  fail_to_write(path);
}

/// Writes to an existing file, device or pipe. Opening does not wait for a reader of a pipe, but writing
/// does.
void write_in_place(const std::string& path, std::string_view text) {
  OpenFile file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.descriptor() < 0)
    fail_to_write(path, errno == ENXIO ? std::string("nobody reads from this pipe")
                                       : std::generic_category().message(errno));
  ::fcntl(file.descriptor(), F_SETFL, ::fcntl(file.descriptor(), F_GETFL) & ~O_NONBLOCK);
  if (!file.write(text) || !file.close()) fail_to_write(path);
}

/// Replaces an existing regular file as a whole where possible, otherwise writes it in place. The file may
/// have changed since `there` was read, so device and inode are compared again.
void rewrite(const std::string& path, const struct stat& there, std::string_view text) {
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) fail_to_write(path);
  const std::string target = behind_links(path);
  struct stat found {};
  const bool is_found =
      ::lstat(target.c_str(), &found) == 0 && found.st_dev == there.st_dev && found.st_ino == there.st_ino;
  if (is_found && there.st_nlink == 1 && replace_whole(path, target, &there, text)) return;
  write_in_place(path, text);
}

}  // namespace

void remove_left_parts(const std::string& path) {
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  std::error_code none;
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) {
    if (!is_part_name(at->path().filename().string())) continue;
    const OpenFile part(::open(at->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    // The lock fails while a living writer holds its part.
    const bool is_left = part.descriptor() >= 0 && ::fstat(part.descriptor(), &status) == 0 &&
                         S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
                         ::time(nullptr) - status.st_mtime > kOldPartS &&
                         ::flock(part.descriptor(), LOCK_EX | LOCK_NB) == 0;
    if (is_left) ::unlink(at->path().c_str());
  }
}

std::string behind_links(std::string path) {
  std::error_code none;
  for (int i = 0; i < kMostLinksInARow && fs::is_symlink(fs::symlink_status(path, none)); ++i)
    path = (fs::path(path).parent_path() / fs::read_symlink(path, none)).string();
  return path;
}

void write_whole_file(const std::string& path, std::string_view text) {
  // A user who writes "-" expects standard output, which this function is not for.
  if (path == "-")
    throw InputError("- stands for standard output, and this is written to a file",
                     "./- is a file of that name");
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) {
    if (errno != ENOENT) fail_to_write(path);
    replace_whole(path, behind_links(path), nullptr, text);
  } else if (S_ISREG(there.st_mode)) {
    rewrite(path, there, text);
  } else if (S_ISCHR(there.st_mode) || S_ISFIFO(there.st_mode)) {
    write_in_place(path, text);
  } else {
    fail_to_write(path, S_ISDIR(there.st_mode) ? std::generic_category().message(EISDIR)
                                               : std::string("a disk or a socket is no place for a file"));
  }
}

void replace_entry(const std::string& path, std::string_view text) {
  replace_whole(path, path, nullptr, text);
}

}  // namespace foretrain

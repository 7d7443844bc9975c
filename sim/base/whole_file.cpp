// The rename is the only moment at which the final name changes. Until the bytes are on the disk the new file
// has no name at all where the file system knows such files, so that a program that is killed leaves nothing
// but in the moment between its two last calls. A file that is being written is locked by its writer.
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

constexpr std::size_t kWrittenAtOnce = 1 << 20;
constexpr int kMostLinksInARow = 40, kMostNamesTried = 100;
constexpr std::string_view kPartBegin = "foretrain-", kPartEnd = ".part";
constexpr std::size_t kPartDigits = 16;
/// A part that is younger may be a writer's that has not locked it yet.
constexpr std::time_t kOldPartS = 60;
constexpr mode_t kModeOfNewFiles = 0666, kModeOfOthersText = 0600, kPermissions = 0777;

[[noreturn]] void fail_to_write(const std::string& path, std::string_view cause) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", path, cause));
}

[[noreturn]] void fail_to_write(const std::string& path) {
  fail_to_write(path, std::generic_category().message(errno));
}

/// Keeps signals that would end the program waiting, as long as it lives; those that are ignored stay so.
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

  /// Whether one of them waits for us alone.
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

/// A file that is open for writing; where a call fails, errno says why.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

  bool write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno != EINTR) return false;
      text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
  }

  /// Waits for the disk, where the file system knows one.
  bool is_on_disk() const { return ::fdatasync(descriptor_) == 0 || errno == EINVAL || errno == ENOTSUP; }

  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

std::uint64_t number_nobody_knows() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
    throw EnvironmentError("the system has no random numbers");
  return number;
}

std::string unguessable_name(const fs::path& folder) {
  return (folder / fmt::format("{}{:016x}{}", kPartBegin, number_nobody_knows(), kPartEnd)).string();
}

bool is_part_name(std::string_view name) {
  return name.size() == kPartBegin.size() + kPartDigits + kPartEnd.size() && name.starts_with(kPartBegin) &&
         name.ends_with(kPartEnd) &&
         name.substr(kPartBegin.size(), kPartDigits).find_first_not_of("0123456789abcdef") ==
             std::string_view::npos;
}

/// Of `folder`, as yet without a file; errno says why not when the descriptor is -1.
int create_unguessable(const fs::path& folder, mode_t mode, std::string& name) {
  for (int i = 0; i < kMostNamesTried; ++i) {
    name = unguessable_name(folder);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

/// Of `folder`, without a name; -1 where that cannot be, or where it could get none later.
int create_unnamed(const fs::path& folder, mode_t mode) {
#ifdef O_TMPFILE
  if (::access("/proc/self/fd", X_OK) != 0) return -1;
  return ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
#else
  return -1;
#endif
}

/// When a new file gets a name.
enum class Naming : std::uint8_t { at_the_end, at_once };

/// A file in the folder of `target` that is gone at the end, unless it took the target's name.
class PartFile {
 public:
  PartFile(const std::string& target, mode_t mode, Naming naming)
      : target_(target),
        file_(naming == Naming::at_once ? create_unguessable(folder(), mode, name_)
                                        : create_unnamed(folder(), mode)) {
    if (is_open()) ::flock(file_.descriptor(), LOCK_EX | LOCK_NB);  // against remove_left_parts()
  }
  ~PartFile() {
    if (!name_.empty() && (file_.descriptor() >= 0 || is_left_)) ::unlink(name_.c_str());
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  bool is_open() const { return file_.descriptor() >= 0; }

  /// Owner, group and permissions of another file.
  bool becomes_like(const struct stat& other) const {
    struct stat own {};
    if (::fstat(file_.descriptor(), &own) != 0) return false;
    const bool is_same = own.st_uid == other.st_uid && own.st_gid == other.st_gid;
    if (!is_same && ::fchown(file_.descriptor(), other.st_uid, other.st_gid) != 0) return false;
    return ::fchmod(file_.descriptor(), other.st_mode & kPermissions) == 0;
  }

  bool write(std::string_view text, const HeldSignals& signals) const {
    for (; !text.empty(); text.remove_prefix(std::min(kWrittenAtOnce, text.size()))) {
      errno = EINTR;
      if (signals.has_come() || !file_.write(text.substr(0, kWrittenAtOnce))) return false;
    }
    return true;
  }

  /// Its bytes are on the disk first: else a machine that fails soon after might have the new name and no
  /// bytes.
  bool take_name() {
    if (!file_.is_on_disk() || !has_name()) return false;
    is_left_ = true;
    if (!file_.close() || ::rename(name_.c_str(), target_.c_str()) != 0) return false;
    is_left_ = false;
    return true;
  }

  /// Whether it never got a name of its own; another one may, that has it from the beginning.
  bool is_nameless() const { return name_.empty(); }

 private:
  fs::path folder() const { return fs::path(target_).parent_path(); }

  /// Gives it one where it has none.
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
  bool is_left_ = false;  ///< closed, without the name it was for
};

/// `path` is the name for messages, `there` what is at `target`, or nothing. False when its owner or
/// permissions cannot be kept.
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

/// Opening does not wait for a reader of a pipe, writing does.
void write_in_place(const std::string& path, std::string_view text) {
  OpenFile file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.descriptor() < 0)
    fail_to_write(path, errno == ENXIO ? std::string("nobody reads from this pipe")
                                       : std::generic_category().message(errno));
  ::fcntl(file.descriptor(), F_SETFL, ::fcntl(file.descriptor(), F_GETFL) & ~O_NONBLOCK);
  if (!file.write(text) || !file.close()) fail_to_write(path);
}

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

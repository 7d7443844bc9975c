// Reading a file, a pipe or a device without waiting for a writer who never comes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <streambuf>
#include <string>

namespace foretrain {

/// A file that is open for reading. Of standard input, whatever that is, every byte is waited for. Elsewhere
/// a named pipe is waited for as long as somebody has it open for writing, and for kPatience before that; a
/// device is read as far as it has bytes.
class InputFile {
 public:
  static constexpr int kPatienceMilliseconds = 3000;

  /// `path` is also the name in messages. Throws InputError for a folder, a disk and a socket, and
  /// EnvironmentError with the cause where the system does not open it.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The next bytes, at most `size`; 0 at the end. Throws InputError for a pipe that nobody opened for
  /// writing in time and a device that has no bytes, and EnvironmentError with the cause where reading fails.
  std::size_t read(char* block, std::size_t size);

 private:
  /// After 0 bytes: whether a writer may still come. Throws when none came in time.
  bool may_get_writer() const;
  /// After a read that found no byte though a writer is still there.
  void wait_for_writer();

  std::string path_;
  int descriptor_;
  bool is_pipe_ = false;
  bool had_writer_ = false;  ///< so that 0 bytes are the end
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
};

/// The same for std::istream. The constructor throws as both of the file's calls do, because it reads the
/// first bytes; an error behind them sets the stream's bad bit.
class InputBuffer : public std::streambuf {
 public:
  explicit InputBuffer(const std::string& path);

 protected:
  int_type underflow() override;

 private:
  InputFile file_;
  std::array<char, 1 << 16> block_{};
};

}  // namespace foretrain

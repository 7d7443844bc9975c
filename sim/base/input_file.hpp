// Input from a file, a pipe or a device, without an endless wait for a writer that never comes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <streambuf>
#include <string>

namespace foretrain {

/// A file that is open for reading.
///
/// Reads of standard input, whatever it is, wait for every byte. A named pipe is read as long as some process
/// has it open for writing, and for kPatienceMilliseconds before that. A device is read as far as it has
/// bytes.
class InputFile {
 public:
  /// Longest wait for the first writer of a named pipe, in ms.
  static constexpr int kPatienceMilliseconds = 3000;

  /// Opens the file. `path` is also its name in messages. Throws InputError for a folder, a disk and a
  /// socket. Throws EnvironmentError with the cause if the system does not open it.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Reads the next bytes, at most `size`, and returns their number; 0 at the end. Throws InputError for a
  /// pipe that nobody opened for writing in time, and for a device without bytes. Throws EnvironmentError if
  /// reading fails.
  std::size_t read(char* block, std::size_t size);

 private:
  /// Returns, after a read of 0 bytes, whether a writer may still come. Throws InputError when none came in
  /// time.
  bool may_get_writer() const;
  /// Waits after a read that found no byte although a writer is present.
  void wait_for_writer();

  std::string path_;
  int descriptor_;
  bool is_pipe_ = false;
  /// A writer was seen, so that 0 bytes mean the end.
  bool had_writer_ = false;
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
};

/// The same for std::istream. The constructor reads the first bytes, so it throws as both calls of the file
/// do. A later error sets the bad bit of the stream.
class InputBuffer : public std::streambuf {
 public:
  explicit InputBuffer(const std::string& path);

 protected:
  /// Reads the next block; returns end of file when there is none.
  int_type underflow() override;

 private:
  InputFile file_;
  std::array<char, 1 << 16> block_{};
};

}  // namespace foretrain

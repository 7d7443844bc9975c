// The program: the only catch and the only exit codes.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/app/command_line.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/interrupted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/terminal.hpp"

namespace {

constexpr int kWrongInput = 1, kWorldFailed = 3, kInterrupted = 130;
/// Of free memory at the end of the heap, and by how much the heap grows; chosen.
[[maybe_unused]] constexpr int kKeptBytes = std::numeric_limits<int>::max(), kTakenAtOnce = 16 << 20;

/// From where an array asks for huge pages: a few of them (2 MiB on x86-64).
[[maybe_unused]] constexpr std::size_t kManyPages = 8 << 20;

int fail(const std::string& text, int code) {
  std::fflush(stdout);
  const std::string shown = foretrain::printable_lines(text);
  std::fprintf(stderr, "%s",
               foretrain::takes_colours(STDERR_FILENO) ? foretrain::coloured(shown).c_str() : shown.c_str());
  return code;
}

/// A file that is opened takes the lowest free number: without this it would be where a closed standard
/// output was.
void keep_standard_numbers() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/dev/null", O_RDONLY);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

/// What one simulation gives back the next one takes, instead of new pages of the system: they are what a
/// long network would cost most, for its step is simulated again and again.
void keep_freed_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  ::mallopt(M_TOP_PAD, kTakenAtOnce);
#endif
}

/// The arrays of a long network are written from their beginning to their end: on huge pages they meet the
/// system every 2 MiB instead of every 4 KiB, which were a third of their time. A kernel without them takes
/// no notice.
[[maybe_unused]] void ask_for_huge_pages(void* block, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto page = static_cast<std::uintptr_t>(::getpagesize());
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(block) / page * page;
  ::madvise(reinterpret_cast<void*>(begin), bytes, MADV_HUGEPAGE);
#endif
}

/// Ends as the signal would by itself, with a sentence before.
void end_by(int signal) {
  constexpr std::string_view kSentence =
      "error: interrupted: every output file is whole or as it was before\n";
  [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// A signal that is ignored, as under nohup, stays so.
void say_what_signals_leave() {
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, end_by) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

/// Everything that was printed has arrived.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return fail("error: standard output: cannot be written\n", kWorldFailed);
}

}  // namespace

#ifdef __GLIBC__
void* operator new(std::size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  if (bytes >= kManyPages) ask_for_huge_pages(block, bytes);
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif

int main(int argc, char** argv) {
  keep_freed_memory();
  keep_standard_numbers();
  say_what_signals_leave();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is a failed write
  try {
    return finish(foretrain::run_command_line(argc, argv));
  } catch (const foretrain::InputError& error) {
    return fail(error.what(), kWrongInput);
  } catch (const foretrain::Interrupted& interrupted) {
    return fail(interrupted.what() + std::string("\n"), kInterrupted);
  } catch (const std::bad_alloc&) {
    return fail("error: out of memory\n", kWorldFailed);
  } catch (const std::exception& error) {
    return fail(std::string("error: ") + error.what() + "\n", kWorldFailed);
  }
}

// Large arrays on huge pages: operator new of the program and of the shared library.
#include <cstdint>
#include <cstdlib>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#ifdef __GLIBC__

namespace {

/// From where an array asks for huge pages: a few of them (2 MiB on x86-64).
constexpr std::size_t kManyPages = 8 << 20;

/// The arrays of a long network are written from their beginning to their end: on huge pages they meet the
/// system every 2 MiB instead of every 4 KiB, which were a third of their time. A kernel without them takes
/// no notice.
void ask_for_huge_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto page = static_cast<std::uintptr_t>(::getpagesize());
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(block) / page * page;
  ::madvise(reinterpret_cast<void*>(begin), bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  if (bytes >= kManyPages) ask_for_huge_pages(block, bytes);
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

#endif

// Replaces operator new and delete of the program and the shared library, so that large arrays use huge
// pages.
#include <cstdint>
#include <cstdlib>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#ifdef __GLIBC__

namespace {

// Size in bytes from which an array asks for huge pages: several of 2 MiB, their size on x86-64.
constexpr std::size_t kManyPages = 8 << 20;

/// Advises the kernel to back the block with huge pages. Arrays of a long network are written once from start
/// to end; with huge pages they fault every 2 MiB instead of every 4 KiB, and faults were a third of the time
/// to fill them. A kernel without huge pages ignores the advice.
void ask_for_huge_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  // madvise takes whole pages, so the start is rounded down.
  const auto page = static_cast<std::uintptr_t>(::getpagesize());
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(block) / page * page;
  ::madvise(reinterpret_cast<void*>(begin), bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace

// malloc's result satisfies the alignment of operator new, so both deletes are free().
void* operator new(std::size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  if (bytes >= kManyPages) ask_for_huge_pages(block, bytes);
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

#endif

// Libraries are never closed: CUDA's and MPI's leave threads and exit handlers behind.
#include "sim/base/shared_library.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

namespace foretrain {

namespace {

/// A program of one file has no loader: libraries of another C library than its own would be opened into it.
bool has_loader() { return ::getauxval(AT_BASE) != 0; }

}  // namespace

SharedLibrary SharedLibrary::open(const std::vector<std::string>& names) {
  SharedLibrary library;
  if (!has_loader()) return library;
  for (const std::string& name : names) {
    // Global, because the plugins of MPI libraries look for the library's own symbols.
    void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) continue;
    library.handle_ = std::shared_ptr<void>(handle, [](void*) {});
    break;
  }
  return library;
}

void* SharedLibrary::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_.get(), name);
}

}  // namespace foretrain

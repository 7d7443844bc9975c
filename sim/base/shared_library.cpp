// Libraries are never closed, because those of CUDA and MPI leave threads and exit handlers behind.
#include "sim/base/shared_library.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

namespace foretrain {

namespace {

/// Returns whether the program has a dynamic loader. A statically linked program has none: a library would
/// bring a second C library into it, so nothing is opened.
bool has_loader() { return ::getauxval(AT_BASE) != 0; }

}  // namespace

SharedLibrary SharedLibrary::open(const std::vector<std::string>& names) {
  SharedLibrary library;
  if (!has_loader()) return library;
  for (const std::string& name : names) {
    // The symbols are global, because the plugins of MPI libraries look for the library's own symbols.
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

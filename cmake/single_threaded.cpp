// What Debian's archives take for a variable of the program, and a shared library cannot reach in the C
// library: whether the process has one thread. Never, so that the C++ library counts references atomically.
extern "C" {
__attribute__((visibility("hidden"))) extern char __libc_single_threaded;
char __libc_single_threaded = 0;
}

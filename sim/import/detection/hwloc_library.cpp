// The functions of hwloc 2 are declared here and found at run time, so that the program starts on machines
// without the library (hwloc.h, hwloc/export.h).
#include "sim/import/detection/hwloc_library.hpp"

#include "sim/base/shared_library.hpp"

namespace foretrain {

namespace {

// The topology is opaque to users of hwloc.
struct HwlocTopology;
using HwlocHandle = HwlocTopology*;

// This is HWLOC_TYPE_FILTER_KEEP_IMPORTANT: I/O devices that hwloc considers important are kept.
constexpr int kKeepImportant = 3;
/// Limit of the XML in bytes.
constexpr int kLargestHwlocXml = 64 << 20;

/// The functions of hwloc that are used, by their purpose.
struct HwlocFunctions {
  int (*init)(HwlocHandle*) = nullptr;
  int (*filter)(HwlocHandle, int) = nullptr;
  int (*load)(HwlocHandle) = nullptr;
  int (*write)(HwlocHandle, char**, int*, unsigned long) = nullptr;
  void (*release)(HwlocHandle, char*) = nullptr;
  void (*destroy)(HwlocHandle) = nullptr;

  /// Finds all functions. Returns false when one is missing.
  bool open(const SharedLibrary& library) {
    return library.load(init, "hwloc_topology_init") &&
           library.load(filter, "hwloc_topology_set_io_types_filter") &&
           library.load(load, "hwloc_topology_load") &&
           library.load(write, "hwloc_topology_export_xmlbuffer") &&
           library.load(release, "hwloc_free_xmlbuffer") && library.load(destroy, "hwloc_topology_destroy");
  }
};

}  // namespace

HwlocXmlText hwloc_xml_of_machine() {
  // This soname is that of hwloc 2.0 to 2.12.
  const SharedLibrary library = SharedLibrary::open({"libhwloc.so.15"});
  if (!library) return {"", "libhwloc.so.15 is not here"};
  HwlocFunctions hwloc;
  HwlocHandle topology = nullptr;
  if (!hwloc.open(library) || hwloc.init(&topology) != 0) return {"", "libhwloc.so.15 does not start"};
  HwlocXmlText out{"", "hwloc found nothing"};
  char* buffer = nullptr;
  int length = 0;
  // hwloc leaves out all I/O devices unless this filter is set.
  if (hwloc.filter(topology, kKeepImportant) == 0 && hwloc.load(topology) == 0 &&
      hwloc.write(topology, &buffer, &length, 0) == 0) {
    if (length > 0 && length <= kLargestHwlocXml) out = {{buffer, static_cast<std::size_t>(length)}, ""};
    hwloc.release(topology, buffer);
  }
  hwloc.destroy(topology);
  // hwloc's length counts the NUL byte at the end.
  if (!out.text.empty() && out.text.back() == '\0') out.text.pop_back();
  return out;
}

}  // namespace foretrain

// hwloc 2's functions declared here, so that the program starts on machines without it (hwloc.h,
// hwloc/export.h).
#include "sim/import/detection/hwloc_library.hpp"

#include "sim/base/shared_library.hpp"

namespace foretrain {

namespace {

struct HwlocTopology;  // hwloc's
using HwlocHandle = HwlocTopology*;

constexpr int kKeepImportant = 3;  // HWLOC_TYPE_FILTER_KEEP_IMPORTANT
constexpr int kLargestHwlocXml = 64 << 20;

struct HwlocFunctions {
  int (*init)(HwlocHandle*) = nullptr;
  int (*filter)(HwlocHandle, int) = nullptr;
  int (*load)(HwlocHandle) = nullptr;
  int (*write)(HwlocHandle, char**, int*, unsigned long) = nullptr;
  void (*release)(HwlocHandle, char*) = nullptr;
  void (*destroy)(HwlocHandle) = nullptr;

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
  const SharedLibrary library = SharedLibrary::open({"libhwloc.so.15"});  // hwloc 2.0 to 2.12
  if (!library) return {"", "libhwloc.so.15 is not here"};
  HwlocFunctions hwloc;
  HwlocHandle topology = nullptr;
  if (!hwloc.open(library) || hwloc.init(&topology) != 0) return {"", "libhwloc.so.15 does not start"};
  HwlocXmlText out{"", "hwloc found nothing"};
  char* buffer = nullptr;
  int length = 0;
  if (hwloc.filter(topology, kKeepImportant) == 0 && hwloc.load(topology) == 0 &&
      hwloc.write(topology, &buffer, &length, 0) == 0) {
    if (length > 0 && length <= kLargestHwlocXml) out = {{buffer, static_cast<std::size_t>(length)}, ""};
    hwloc.release(topology, buffer);
  }
  hwloc.destroy(topology);
  // The length counts the zero at the end.
  if (!out.text.empty() && out.text.back() == '\0') out.text.pop_back();
  return out;
}

}  // namespace foretrain

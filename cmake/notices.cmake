# NOTICE: the licences of others' software in the program, printed by `foretrain reference licences` and installed beside LICENSE. Its parts are
# web/third_party_notices.txt (of the pages) and, where they are there, Debian's copyright files of the libraries that are compiled in.
set(notice "foretrain, copyright of the foretrain project, Apache License 2.0 (LICENSE).
The program contains software of others. Their licences follow: first of the libraries, then of the scripts in its pages.

")
# The one list of packages is the one that installs them; compilers and tools in it leave nothing in the program.
file(STRINGS ${PROJECT_SOURCE_DIR}/tools/install_packages build_line REGEX "^ *\\[build\\]=")
string(REGEX MATCHALL "(lib|nlohmann|zlib)[a-z0-9+-]*" libraries "${build_line}")
foreach(library IN LISTS libraries)
  set(copyright /usr/share/doc/${library}/copyright)
  # The package of that name holds nothing but a dependency.
  if(library STREQUAL "libboost-dev")
    file(GLOB versions /usr/share/doc/libboost[1-9].*-dev/copyright)
    list(POP_BACK versions copyright)
  endif()
  set(text "The machine that built this program has no copyright file of it.")
  if(EXISTS "${copyright}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${copyright})
    file(SIZE ${copyright} bytes)
    # That of Boost lists every file. Its licence asks for no notice in a compiled program.
    if(bytes GREATER 100000)
      set(text "Its copyright file is not repeated here because it has ${bytes} bytes: ${copyright} of Debian.")
    else()
      file(READ ${copyright} text)
      string(STRIP "${text}" text)
    endif()
  endif()
  string(APPEND notice "==== ${library} of Debian\n\n${text}\n\n")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/third_party_notices.txt)
file(READ ${PROJECT_SOURCE_DIR}/web/third_party_notices.txt pages)
string(APPEND notice "==== the pages\n\n${pages}")
set(FORETRAIN_NOTICE ${PROJECT_BINARY_DIR}/NOTICE)
if(EXISTS ${FORETRAIN_NOTICE})
  file(READ ${FORETRAIN_NOTICE} before)
endif()
if(NOT "${before}" STREQUAL "${notice}")
  file(WRITE ${FORETRAIN_NOTICE} "${notice}")
endif()
foretrain_pack(${FORETRAIN_NOTICE} licences sim/report/notices.hpp packed_notices FORETRAIN_PACKED_NOTICES)

# Which compiler, where nobody says: the system's; of presets that ask for it clang, if there is one, which takes half of g++'s time. So what
# clang compiles prints, in the tests, what g++ printed into the pages.
option(FORETRAIN_PREFER_CLANG "clang++ where it is installed and no compiler is named" OFF)
if(FORETRAIN_PREFER_CLANG AND NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(FORETRAIN_CLANG clang++)
  if(FORETRAIN_CLANG)
    set(CMAKE_CXX_COMPILER ${FORETRAIN_CLANG})
  endif()
endif()

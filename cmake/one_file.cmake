# The program as one file: linked statically, with the catalogs inside. `make static`; and the archive of catalogs that `update-catalogs` takes.
if(NOT FORETRAIN_IS_RELEASE OR NOT TARGET foretrain_shared)
  return()
endif()

foretrain_install_catalogs(. COMPONENT catalogs EXCLUDE_FROM_ALL)
set(folder ${PROJECT_BINARY_DIR}/catalogs)
# The same bytes whoever packs them.
add_custom_target(foretrain_catalogs
                  COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}/files
                  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --component catalogs --prefix ${folder}/files
                  COMMAND ${CMAKE_COMMAND} -E chdir ${folder}/files ${CMAKE_COMMAND} -E tar cf ${folder}/new.tar --format=gnutar --mtime=1980-01-01 .
                  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${folder}/new.tar ${folder}/catalogs.tar
                  BYPRODUCTS ${folder}/catalogs.tar VERBATIM)
# -n: without a time.
add_custom_command(OUTPUT ${folder}/catalogs.tar.gz DEPENDS ${folder}/catalogs.tar
                   COMMAND sh -c "gzip -9 -n -c catalogs.tar > catalogs.tar.gz" WORKING_DIRECTORY ${folder} VERBATIM)
file(MAKE_DIRECTORY ${folder})

add_executable(foretrain_one_file EXCLUDE_FROM_ALL sim/app/main.cpp ${FORETRAIN_ENTRY} cmake/packed_catalogs.cpp)
set_source_files_properties(cmake/packed_catalogs.cpp PROPERTIES OBJECT_DEPENDS ${folder}/catalogs.tar.gz
                            COMPILE_DEFINITIONS FORETRAIN_CATALOGS="${folder}/catalogs.tar.gz")
set_target_properties(foretrain_one_file PROPERTIES FORETRAIN_STATIC ON OUTPUT_NAME foretrain RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/one_file)
target_compile_options(foretrain_one_file PRIVATE ${FORETRAIN_FORTIFY})
add_dependencies(foretrain_one_file foretrain_catalogs foretrain_shared)
target_link_libraries(foretrain_one_file PRIVATE foretrain_flags ${FORETRAIN_LAYER_ARCHIVES} ${FORETRAIN_ARCHIVES} Threads::Threads ${CMAKE_DL_LIBS})
# Without symbols: it travels. GNU's usual linker, because gold makes no static program that is position-independent.
target_link_options(foretrain_one_file PRIVATE -static-pie -fuse-ld=bfd -s)
# Addresses that are moved at the start, a bit each instead of 24 bytes.
check_linker_flag(CXX "-fuse-ld=bfd;-Wl,-z,pack-relative-relocs" FORETRAIN_PACKS_RELOCATIONS)
if(FORETRAIN_PACKS_RELOCATIONS)
  target_link_options(foretrain_one_file PRIVATE -Wl,-z,pack-relative-relocs)
endif()

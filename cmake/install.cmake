# Installation: the binary, the catalogs under share/foretrain, the manual page.
if(TARGET foretrain)
  install(TARGETS foretrain RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY models topologies scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/foretrain FILES_MATCHING PATTERN "*.toml")
  if(EXISTS ${PROJECT_SOURCE_DIR}/docs/reference/foretrain.1)
    install(FILES docs/reference/foretrain.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()

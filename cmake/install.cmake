# Installation: the binary, the catalogs under share/foretrain, the reference pages under share/doc.
if(TARGET foretrain)
  install(TARGETS foretrain RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY models topologies datasets scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/foretrain FILES_MATCHING PATTERN "*.toml")
  install(DIRECTORY docs/reference DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

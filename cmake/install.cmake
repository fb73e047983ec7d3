include(GNUInstallDirs)
install(TARGETS weir RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_SOURCE_DIR}/tools/completion.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weir)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/weir OPTIONAL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/share/stack DESTINATION ${CMAKE_INSTALL_DATADIR}/weir)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})


# libweir-state for applications: library, header, pkg-config.
install(TARGETS weir-state LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_SOURCE_DIR}/src/state/lib/weir-state.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(${CMAKE_SOURCE_DIR}/src/state/lib/weir-state.pc.in ${CMAKE_BINARY_DIR}/weir-state.pc
  @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/weir-state.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# libweir-rpc likewise; a component, so that its test can install it alone.
install(TARGETS weir-rpc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT rpc)
install(FILES ${CMAKE_SOURCE_DIR}/src/rpc/lib/weir-rpc.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT rpc)
configure_file(${CMAKE_SOURCE_DIR}/src/rpc/lib/weir-rpc.pc.in ${CMAKE_BINARY_DIR}/weir-rpc.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/weir-rpc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT rpc)

install(TARGETS weir-prof LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${weir_links} DESTINATION ${CMAKE_INSTALL_LIBDIR})

# What `make` builds: all that is installed, none of the tests.
add_custom_target(product DEPENDS weir weir-state weir-rpc weir-prof links)

# The program writes its verbs' pages itself. Only the build that is installed needs them.
find_program(SCDOC scdoc)
weir_hidden(scdoc hidden)
if(hidden)
  message(STATUS "the manual pages are left out (WEIR_WITHOUT names scdoc)")
elseif(SCDOC AND CMAKE_BUILD_TYPE STREQUAL "Release")
  set(man ${CMAKE_BINARY_DIR}/man)
  file(GLOB man_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.scd)
  add_custom_command(OUTPUT ${man}/.made
    COMMAND ${CMAKE_SOURCE_DIR}/tools/man --no-lint $<TARGET_FILE:weir> ${man}
    COMMAND ${CMAKE_COMMAND} -E touch ${man}/.made
    DEPENDS weir ${man_sources} ${CMAKE_SOURCE_DIR}/tools/man
    COMMENT "Writing the manual pages" VERBATIM)
  add_custom_target(man ALL DEPENDS ${man}/.made)
  add_dependencies(product man)
  install(DIRECTORY ${man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  install(DIRECTORY ${man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 FILES_MATCHING PATTERN "*.3")
  install(DIRECTORY ${man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 FILES_MATCHING PATTERN "*.5")
elseif(NOT SCDOC)
  message(STATUS "scdoc not found: no manual pages (Debian: scdoc)")
endif()

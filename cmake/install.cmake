# Where everything goes. What the program finds by itself (src/base/self.h) lies at the same places
# below the prefix, so that an installed tree can be moved.
include(GNUInstallDirs)
install(TARGETS weir RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/weir)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/share/stack DESTINATION ${CMAKE_INSTALL_DATADIR}/weir)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/share/papers DESTINATION ${CMAKE_INSTALL_DATADIR}/weir)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/share/mpi DESTINATION ${CMAKE_INSTALL_DATADIR}/weir)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/tools/weir-cc DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The program in the build tree finds the examples as an installed one does.
foreach(data examples share/stack share/papers)
  get_filename_component(leaf ${data} NAME)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/weir)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${data} ${CMAKE_BINARY_DIR}/share/weir/${leaf} SYMBOLIC)
endforeach()

# zsh looks here below /usr/local; what a distribution packages goes elsewhere (debian/rules).
set(WEIR_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "where zsh finds completions")
install(FILES ${CMAKE_SOURCE_DIR}/tools/completion.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weir)
install(FILES ${CMAKE_SOURCE_DIR}/tools/completion.zsh
  DESTINATION ${WEIR_ZSH_COMPLETIONS} RENAME _weir)
install(FILES ${CMAKE_SOURCE_DIR}/tools/completion.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME weir.fish)

# weir_install_library(weir-rpc HEADER TEMPLATE COMPONENT): a library for applications, its header
# and a pkg-config file, which is written when it is installed: only then is the prefix known.
function(weir_install_library target header template component)
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component})
  get_target_property(version ${target} VERSION)
  set(pc ${CMAKE_BINARY_DIR}/${target}.pc)
  install(CODE "
    set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
    set(CMAKE_INSTALL_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
    set(LIBRARY_VERSION \"${version}\")
    configure_file(\"${template}\" \"${pc}\" @ONLY)" COMPONENT ${component})
  install(FILES ${pc} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()
weir_install_library(weir-state ${CMAKE_SOURCE_DIR}/src/state/lib/weir-state.h
  ${CMAKE_SOURCE_DIR}/src/state/lib/weir-state.pc.in state)
# A component of its own, so that its test can install it alone.
weir_install_library(weir-rpc ${CMAKE_SOURCE_DIR}/src/rpc/lib/weir-rpc.h
  ${CMAKE_SOURCE_DIR}/src/rpc/lib/weir-rpc.pc.in rpc)

# What only the program opens: no library for others to link.
install(TARGETS weir-prof LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weir)
install(FILES ${weir_links} DESTINATION ${CMAKE_INSTALL_LIBDIR}/weir)

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

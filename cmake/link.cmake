include(GNUInstallDirs)
target_compile_definitions(module.base PRIVATE WEIR_LIBDIR="${CMAKE_INSTALL_LIBDIR}")
target_link_libraries(module.sim PRIVATE ${CMAKE_DL_LIBS})
# libweir-link-<mpi>.so, by that MPI's own compiler: one file that knows nothing of weir but
# sim/link.h, opened when a launcher of that kind has started the program.
set(weir_links "")
foreach(mpi ${WEIR_MPIS})
  set(object ${CMAKE_BINARY_DIR}/lib/libweir-link-${mpi}.so)
  set(source ${CMAKE_SOURCE_DIR}/src/sim/mpi/link_mpi.c)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib
    COMMAND ${MPICC_${mpi}} -std=gnu17 -O2 -Wall -Wextra -fPIC -fvisibility=hidden -shared
            -I${CMAKE_SOURCE_DIR}/src -o ${object} ${source}
    DEPENDS ${source} ${CMAKE_SOURCE_DIR}/src/sim/link.h VERBATIM)
  list(APPEND weir_links ${object})
endforeach()
add_custom_target(links ALL DEPENDS ${weir_links})

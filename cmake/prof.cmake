# libweir-prof.so, to be preloaded: src/prof/lib and the format's header, nothing else of weir,
# and no sanitizer, because the programs it is loaded into have none.
file(GLOB prof_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/prof/lib/*.c)
add_library(weir-prof SHARED ${prof_sources})
set_target_properties(weir-prof PROPERTIES C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib INTERPROCEDURAL_OPTIMIZATION OFF)
target_include_directories(weir-prof PRIVATE ${CMAKE_BINARY_DIR}/modules/prof.form)
target_compile_options(weir-prof PRIVATE -O2 -fno-sanitize=all -fno-plt -fno-builtin
  -fasynchronous-unwind-tables -U_FORTIFY_SOURCE -UWEIR_CHECK)
# Call paths are found by frame pointers, through the library's own functions, too; but not in the way
# of reads and writes.
target_compile_options(weir-prof PRIVATE -fno-omit-frame-pointer)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/prof/lib/rw.c PROPERTIES COMPILE_OPTIONS
  -fomit-frame-pointer)
# A program may hand over a null pointer where the header forbids it, and gets its answer.
target_compile_options(weir-prof PRIVATE -fno-delete-null-pointer-checks
  $<$<C_COMPILER_ID:GNU>:-Wno-nonnull-compare>
  "$<$<C_COMPILER_ID:Clang>:-Wno-tautological-pointer-compare;-Wno-pointer-bool-conversion>")
target_link_options(weir-prof PRIVATE -fno-sanitize=all -Wl,-z,defs -Wl,-z,now)
target_link_libraries(weir-prof PRIVATE ${CMAKE_DL_LIBS})

# Gives src/base/version.c what this build is. The revision is asked for at every
# build, not at configure time, and written only when it changed.
set(generated ${CMAKE_BINARY_DIR}/generated)

set(build ${CMAKE_BUILD_TYPE})
if(WEIR_SANITIZE)
  string(APPEND build " with address and undefined-behaviour sanitizers")
elseif(WEIR_TSAN)
  string(APPEND build " with the thread sanitizer")
elseif(CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  string(APPEND build " with link-time optimisation")
endif()

file(CONFIGURE OUTPUT ${generated}/build.inc @ONLY CONTENT
"#define WEIR_VERSION \"@PROJECT_VERSION@\"
#define WEIR_COMPILER \"@CMAKE_C_COMPILER_ID@ @CMAKE_C_COMPILER_VERSION@\"
#define WEIR_BUILD \"@build@\"
static const struct wr_feature features[] = {
@WEIR_FEATURE_ROWS@    {.name = NULL},
};
")

add_custom_target(weir_revision
  COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR} -D OUT=${generated}/revision.inc
          -P ${CMAKE_SOURCE_DIR}/cmake/revision.cmake
  BYPRODUCTS ${generated}/revision.inc
  COMMENT "Asking git for the revision")
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/version.c
  PROPERTIES INCLUDE_DIRECTORIES ${generated})
add_dependencies(module.base weir_revision)

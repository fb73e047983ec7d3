# weir_room(net/topo SEES base conf)
#
# A room is a folder of src/ built as a static library. Its headers are offered to
# others through a directory of links, <build>/rooms/net.topo/net/topo/*.h, and
# only the rooms it SEES are on its include path: an arrow drawn the wrong way
# does not compile. Headers named *_priv.h stay inside the room.
set_property(GLOBAL PROPERTY WEIR_ROOMS "")

function(weir_room name)
  cmake_parse_arguments(R "" "" "SEES" ${ARGN})
  string(REPLACE "/" "." flat ${name})
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  set(shown ${CMAKE_BINARY_DIR}/rooms/${flat})

  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.c)
  list(FILTER sources EXCLUDE REGEX "/main\\.c$")
  file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.h)
  file(MAKE_DIRECTORY ${shown}/${name})
  file(GLOB stale ${shown}/${name}/*.h)
  if(stale)
    file(REMOVE ${stale})
  endif()
  foreach(h ${headers})
    get_filename_component(leaf ${h} NAME)
    if(NOT leaf MATCHES "_priv\\.h$")
      file(CREATE_LINK ${h} ${shown}/${name}/${leaf} SYMBOLIC)
    endif()
  endforeach()

  set(target room.${flat})
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${shown})
    set(mode PUBLIC)
    target_link_libraries(${target} PRIVATE ${WEIR_LIBS})
    if(name IN_LIST WEIR_UNWATCHED)
      target_compile_options(${target} PRIVATE -fno-sanitize=fuzzer-no-link)
    endif()
    if(WEIR_SANITIZE AND name STREQUAL "cli") # it waits for the rooms below; it is compiled thrice as fast
      target_compile_options(${target} PRIVATE -O0)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${shown})
    set(mode INTERFACE)
  endif()
  foreach(other ${R_SEES})
    string(REPLACE "/" "." other_flat ${other})
    # Linking is transitive, seeing is not.
    target_link_libraries(${target} ${mode} $<LINK_ONLY:room.${other_flat}>)
    if(sources)
      target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/rooms/${other_flat})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY WEIR_ROOMS ${target})
endfunction()

# What sees everything: the program's main file and the tests.
function(weir_see_all target)
  get_property(rooms GLOBAL PROPERTY WEIR_ROOMS)
  target_link_libraries(${target} PRIVATE ${rooms} ${WEIR_LIBS})
endfunction()

function(weir_program name)
  add_executable(${name} ${CMAKE_SOURCE_DIR}/src/cli/main.c)
  weir_see_all(${name})
endfunction()

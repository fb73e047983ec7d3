# weir_either(rpc libfabric fabric.c fabric_none.c): the first file where the library is there, else the
# second, which says that it is missing.
function(weir_either room name with without)
  if(WEIR_HAVE_${name})
    set(out ${without})
    string(REPLACE "/" "." flat ${room})
    if("${ARGN}" STREQUAL HEADERS) # it is opened at run time
      target_include_directories(room.${flat} PRIVATE ${WEIR_${name}_INCLUDE_DIRS})
    else()
      target_link_libraries(room.${flat} PRIVATE WEIR::${name})
    endif()
  else()
    set(out ${with})
  endif()
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${room}/${out} PROPERTIES HEADER_FILE_ONLY ON)
endfunction()

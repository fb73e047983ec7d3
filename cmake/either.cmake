# weir_either(rpc libfabric fabric.c fabric_none.c): the first file where the library is there, else the
# second, which says that it is missing.
function(weir_either module name with without)
  if(WEIR_HAVE_${name})
    set(out ${without})
    string(REPLACE "/" "." flat ${module})
    if("${ARGN}" STREQUAL HEADERS) # it is opened at run time
      target_include_directories(module.${flat} PRIVATE ${WEIR_${name}_INCLUDE_DIRS})
    else()
      target_link_libraries(module.${flat} PRIVATE WEIR::${name})
    endif()
  else()
    set(out ${with})
  endif()
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${module}/${out} PROPERTIES HEADER_FILE_ONLY ON)
endfunction()

# The optional libraries of src/rpc: each has a file that uses it and one that says that it is missing.
function(weir_either room name with without)
  if(WEIR_HAVE_${name})
    set(out ${without})
    string(REPLACE "/" "." flat ${room})
    target_link_libraries(room.${flat} PRIVATE WEIR::${name})
  else()
    set(out ${with})
  endif()
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${room}/${out} PROPERTIES HEADER_FILE_ONLY ON)
endfunction()

weir_either(rpc/nic hwloc hwloc.c none.c)
weir_either(rpc liburing store_uring.c store_none.c)

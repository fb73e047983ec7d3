# The machine files and laws of share/stack are in the program, so that `weir stack run --fs NAME`
# finds them wherever it is: one row {name, text} each. pvfs2.yaml are machines,
# laws/pvfs2-NAME.yaml are laws for them.
function(weir_embed inc)
  set(rows "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(leaf ${file} NAME_WE)
    file(READ ${file} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    string(APPEND rows "{\"${leaf}\",\n\"${text}\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/stack/${inc} CONTENT "${rows}" @ONLY)
endfunction()

file(GLOB machine_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/stack/*.yaml)
file(GLOB law_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/stack/laws/*.yaml)
weir_embed(stack_fs.inc ${machine_files})
weir_embed(stack_laws.inc ${law_files})
target_include_directories(room.stack PRIVATE ${CMAKE_BINARY_DIR}/stack)

# weir_embed(stack/stack_timing.inc FILE...)
#
# Texts that are in the program: <build>/stack/stack_timing.inc has one row {name, text} for each file, the
# name without its ending; with weir_embed_whole() with it.
function(weir_embed inc)
  weir_embed_as(NAME_WE ${inc} ${ARGN})
endfunction()

function(weir_embed_whole inc)
  weir_embed_as(NAME ${inc} ${ARGN})
endfunction()

function(weir_embed_as part inc)
  set(rows "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(leaf ${file} ${part})
    file(READ ${file} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "?" "\\?" text "${text}") # "??(" would be a trigraph
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    string(APPEND rows "{\"${leaf}\",\n\"${text}\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${inc} CONTENT "${rows}" @ONLY)
endfunction()

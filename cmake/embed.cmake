# weir_embed(stack/laws.inc FILE...)
#
# Texts that are in the program: <build>/stack/laws.inc has one row {name, text} for each file.
function(weir_embed inc)
  set(rows "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(leaf ${file} NAME_WE)
    file(READ ${file} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "?" "\\?" text "${text}") # "??(" would be a trigraph
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    string(APPEND rows "{\"${leaf}\",\n\"${text}\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${inc} CONTENT "${rows}" @ONLY)
endfunction()

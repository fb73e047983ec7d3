# The machine files and laws of share/stack are in the program, so that `weir stack run --fs NAME`
# finds them wherever it is. pvfs2.yaml are machines,
# laws/pvfs2-NAME.yaml are laws for them.
file(GLOB machine_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/stack/*.yaml)
file(GLOB law_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/stack/laws/*.yaml)
weir_embed(stack/stack_fs.inc ${machine_files})
weir_embed(stack/stack_laws.inc ${law_files})
target_include_directories(room.stack PRIVATE ${CMAKE_BINARY_DIR}/stack)

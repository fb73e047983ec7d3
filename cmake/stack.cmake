# The machine files and timing models of share/stack are in the program, so that
# `weir stack run --fs NAME` finds them wherever it is. pvfs2.yaml has the machines,
# timing/pvfs2-NAME.yaml the timing models of their states.
file(GLOB machine_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/stack/*.yaml)
file(GLOB timing_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/stack/timing/*.yaml)
weir_embed(stack/stack_fs.inc ${machine_files})
weir_embed(stack/stack_timing.inc ${timing_files})
target_include_directories(module.stack PRIVATE ${CMAKE_BINARY_DIR}/stack)

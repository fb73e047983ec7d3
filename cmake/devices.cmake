# The parameter sets of examples/devices are in the program, so that `weir dev NAME` finds
# them wherever it is.
file(GLOB device_sets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/devices/*.yaml)
weir_embed(devices/device_sets.inc ${device_sets})
target_include_directories(module.store.dev PRIVATE ${CMAKE_BINARY_DIR}/devices)

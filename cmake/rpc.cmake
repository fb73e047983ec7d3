# The optional libraries of src/rpc: each has a file that uses it and one that says that it is missing.
include(either)
weir_either(rpc/nic hwloc hwloc.c hwloc_none.c)
weir_either(rpc/nic libfabric offer_fabric.c offer_none.c HEADERS)
weir_either(rpc liburing store_uring.c store_none.c)
weir_either(rpc libfabric fabric.c fabric_none.c HEADERS)

# A folder of its own: there the file that says that storage is missing is always in.
add_subdirectory(${CMAKE_SOURCE_DIR}/src/rpc/lib)

# What the program is built with, found in one place. Each line becomes an imported
# target WEIR::<name> and a row of `weir version`.
#
#   weir_library(yaml yaml-0.1 "configuration files" REQUIRED)
#   weir_library(mpi mpich "runs beyond one machine")
#
# A REQUIRED library is linked to every room; an optional one sets WEIR_HAVE_<name>
# and is linked by the room it adds.
find_package(PkgConfig REQUIRED)
set(WEIR_LIBS m)
set(WEIR_FEATURE_ROWS "")

macro(weir_feature name summary version found)
  string(APPEND WEIR_FEATURE_ROWS
    "    {.name = \"${name}\", .summary = \"${summary}\", .version = \"${version}\", .found = ${found}},\n")
endmacro()

macro(weir_library name package summary)
  cmake_parse_arguments(L "REQUIRED" "" "" ${ARGN})
  if(L_REQUIRED)
    pkg_check_modules(WEIR_${name} REQUIRED IMPORTED_TARGET ${package})
    list(APPEND WEIR_LIBS PkgConfig::WEIR_${name})
  else()
    pkg_check_modules(WEIR_${name} QUIET IMPORTED_TARGET ${package})
  endif()
  if(WEIR_${name}_FOUND)
    add_library(WEIR::${name} ALIAS PkgConfig::WEIR_${name})
    set(WEIR_HAVE_${name} ON)
    weir_feature(${name} "${summary}" "${WEIR_${name}_VERSION}" true)
  else()
    set(WEIR_HAVE_${name} OFF)
    weir_feature(${name} "${summary}" "" false)
  endif()
endmacro()

# The core; without these nothing is built.
weir_library(libyaml yaml-0.1 "configuration files" REQUIRED)
weir_library(sqlite sqlite3 "run files" REQUIRED)
weir_library(zstd libzstd "compression" REQUIRED)
weir_library(jansson jansson "JSON" REQUIRED)

# Logs of file systems are often compressed with gzip.
weir_library(zlib zlib "compressed logs of file systems")

# What measures data services.
weir_library(hwloc hwloc "which NIC is near to which processor")
weir_library(libfabric libfabric "RPC over networks")
weir_library(liburing liburing "storage behind RPC servers")

# What shows runs in a browser.
weir_library(libmicrohttpd libmicrohttpd "weir serve")

# Opened at run time by who asks for it; here it is only said whether it is there.
find_library(PAPI papi)
if(PAPI)
  weir_feature(papi "counters of processors in profiles" "" true)
else()
  weir_feature(papi "counters of processors in profiles" "" false)
endif()

# What lets several processes run one simulation: a shared object for each MPI whose compiler is
# here (cmake/link.cmake). A site's own is named with -DWEIR_MPICC=/path/of/mpicc.
set(WEIR_MPIS "")
find_program(MPICC_mpich mpicc.mpich)
find_program(MPICC_openmpi mpicc.openmpi)
if(WEIR_MPICC)
  set(MPICC_mpi ${WEIR_MPICC})
elseif(NOT MPICC_mpich AND NOT MPICC_openmpi)
  find_program(MPICC_mpi mpicc)
endif()
foreach(mpi mpich openmpi mpi)
  if(MPICC_${mpi})
    list(APPEND WEIR_MPIS ${mpi})
  endif()
endforeach()
if(WEIR_MPIS)
  string(REPLACE ";" " " mpis "${WEIR_MPIS}")
  weir_feature(mpi "one simulation by several processes" "${mpis}" true)
else()
  weir_feature(mpi "one simulation by several processes" "" false)
endif()

find_path(RANDOM123_INCLUDE Random123/philox.h REQUIRED)
weir_feature(random123 "random numbers" "" true)
if(WEIR_CHECK)
  weir_feature(checks "invariants of the models, checked while running" "" true)
else()
  weir_feature(checks "invariants of the models, checked while running" "" false)
endif()

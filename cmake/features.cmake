# What the program is built with, found in one place. Each line becomes an imported
# target WEIR::<name> and a row of `weir version`.
#
#   weir_library(libyaml yaml-0.1 "configuration files" libyaml-dev REQUIRED)
#   weir_library(hwloc hwloc "which NIC is near to which processor" libhwloc-dev)
#
# A REQUIRED library is linked to every module; an optional one sets WEIR_HAVE_<name>
# and is linked by the module it adds.
find_package(PkgConfig REQUIRED)
set(WEIR_LIBS m)
set(WEIR_FEATURE_ROWS "")

# weir_hidden(hwloc out): whether WEIR_WITHOUT names it, so that its absence can be tried where it is installed.
function(weir_hidden name ret_hidden)
  set_property(GLOBAL APPEND PROPERTY WEIR_HIDEABLE ${name})
  if(name IN_LIST WEIR_WITHOUT)
    set(${ret_hidden} ON PARENT_SCOPE)
  else()
    set(${ret_hidden} OFF PARENT_SCOPE)
  endif()
endfunction()

# A name in WEIR_WITHOUT that hides nothing is a typing error.
function(weir_check_without)
  get_property(known GLOBAL PROPERTY WEIR_HIDEABLE)
  list(REMOVE_DUPLICATES known)
  foreach(name ${WEIR_WITHOUT})
    if(NOT name IN_LIST known)
      list(JOIN known " " names)
      message(FATAL_ERROR "WEIR_WITHOUT: there is no \"${name}\"; it takes: ${names}")
    endif()
  endforeach()
endfunction()

# A row of `weir version`; PACKAGE is what to install where it is missing.
macro(weir_feature name summary version found package)
  string(APPEND WEIR_FEATURE_ROWS
    "    {.name = \"${name}\", .summary = \"${summary}\", .version = \"${version}\", .package = \"${package}\", .found = ${found}},\n")
endmacro()

macro(weir_library name module summary package)
  cmake_parse_arguments(L "REQUIRED" "" "" ${ARGN})
  weir_hidden(${name} hidden)
  if(L_REQUIRED)
    if(hidden)
      message(FATAL_ERROR "nothing is built without ${name}; take it out of WEIR_WITHOUT")
    endif()
    pkg_check_modules(WEIR_${name} REQUIRED IMPORTED_TARGET ${module})
    list(APPEND WEIR_LIBS PkgConfig::WEIR_${name})
  elseif(hidden)
    set(WEIR_${name}_FOUND OFF)
  else()
    pkg_check_modules(WEIR_${name} QUIET IMPORTED_TARGET ${module})
  endif()
  if(WEIR_${name}_FOUND)
    add_library(WEIR::${name} ALIAS PkgConfig::WEIR_${name})
    set(WEIR_HAVE_${name} ON)
    weir_feature(${name} "${summary}" "${WEIR_${name}_VERSION}" true ${package})
  else()
    set(WEIR_HAVE_${name} OFF)
    weir_feature(${name} "${summary}" "" false ${package})
  endif()
endmacro()

# The core; without these nothing is built.
weir_library(libyaml yaml-0.1 "configuration files" libyaml-dev REQUIRED)
weir_library(sqlite sqlite3 "run files" libsqlite3-dev REQUIRED)
weir_library(zstd libzstd "compression" libzstd-dev REQUIRED)
weir_library(jansson jansson "JSON" libjansson-dev REQUIRED)

# Tables and logs are often compressed with gzip.
weir_library(zlib zlib "input that is compressed with gzip; Darshan logs" zlib1g-dev)

# Older Darshan logs are compressed with bzip2. Debian's package has no pkg-config file.
find_library(BZIP2 bz2)
find_path(BZIP2_INCLUDE bzlib.h)
weir_hidden(bzip2 hidden)
if(BZIP2 AND BZIP2_INCLUDE AND NOT hidden)
  add_library(WEIR::bzip2 INTERFACE IMPORTED)
  target_link_libraries(WEIR::bzip2 INTERFACE ${BZIP2})
  target_include_directories(WEIR::bzip2 INTERFACE ${BZIP2_INCLUDE})
  set(WEIR_HAVE_bzip2 ON)
  weir_feature(bzip2 "Darshan logs that are compressed with bzip2" "" true libbz2-dev)
else()
  set(WEIR_HAVE_bzip2 OFF)
  weir_feature(bzip2 "Darshan logs that are compressed with bzip2" "" false libbz2-dev)
endif()

# What measures data services.
weir_library(hwloc hwloc "which NIC is near to which processor" libhwloc-dev)
weir_library(libfabric libfabric "RPC over networks" libfabric-dev)
weir_library(liburing liburing "storage behind RPC servers" liburing-dev)

# What shows runs in a browser.
weir_library(libmicrohttpd libmicrohttpd "weir serve" libmicrohttpd-dev)

# Opened at run time when a profile asks for counters; here it is only recorded whether it is there.
find_library(PAPI papi)
weir_hidden(papi hidden)
if(PAPI AND NOT hidden)
  weir_feature(papi "counters of processors in profiles" "" true libpapi-dev)
else()
  weir_feature(papi "counters of processors in profiles" "" false libpapi-dev)
endif()

# What lets several processes run one simulation: a shared object for each MPI whose compiler is
# here (cmake/link.cmake). A site's own is named with -DWEIR_MPICC=/path/of/mpicc.
set(WEIR_MPIS "")
weir_hidden(mpi hidden)
if(NOT hidden)
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
endif()
if(WEIR_MPIS)
  string(REPLACE ";" " " mpis "${WEIR_MPIS}")
  weir_feature(mpi "one simulation by several processes" "${mpis}" true libmpich-dev)
else()
  weir_feature(mpi "one simulation by several processes" "" false libmpich-dev)
endif()

find_path(RANDOM123_INCLUDE Random123/philox.h REQUIRED)
weir_feature(random123 "random numbers" "" true librandom123-dev)
if(WEIR_CHECK)
  weir_feature(checks "invariants of the models, checked while running" "" true "")
else()
  weir_feature(checks "invariants of the models, checked while running" "" false "")
endif()

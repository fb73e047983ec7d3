# The kernels of src/state/hmm that need more than the oldest processor has. Each of these files
# is compiled for one instruction set; which one runs is decided when the program runs.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(wide -ffp-contract=fast -Wno-psabi -O3)
  if(WEIR_SANITIZE OR WEIR_TSAN) # which make so much of unrolled loops that compiling takes minutes
    set(wide -ffp-contract=fast -Wno-psabi -O1 -fno-sanitize=undefined)
  endif()
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/state/hmm/kernel_avx2.c
    PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;${wide}")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/state/hmm/kernel_avx512.c
    PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512dq;-mfma;${wide}")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/state/hmm/kernels.c
    PROPERTIES COMPILE_DEFINITIONS HMM_X86_KERNELS=1)
else()
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/state/hmm/kernel_avx2.c
    ${CMAKE_SOURCE_DIR}/src/state/hmm/kernel_avx512.c PROPERTIES HEADER_FILE_ONLY ON)
endif()

# libweir-state works on four numbers at a time, two and two where the processor cannot; roots and
# quotients too: errno is not used. One file is compiled for processors that can.
set(quads -O3 -fno-math-errno -fno-trapping-math -Wno-psabi)
file(GLOB lib_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/state/lib/*.c)
set_source_files_properties(${lib_sources} PROPERTIES COMPILE_OPTIONS "${quads}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/state/lib/learn_avx2.c
    PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-ffp-contract=fast;${quads}")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/state/lib/online.c
    PROPERTIES COMPILE_DEFINITIONS ONLINE_X86_KERNELS=1)
else()
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/state/lib/learn_avx2.c
    PROPERTIES HEADER_FILE_ONLY ON)
endif()

# libweir-state: the same sources for applications, without anything else of weir.
file(GLOB state_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/state/hmm/*.c
  ${CMAKE_SOURCE_DIR}/src/state/lib/*.c)
add_library(weir-state SHARED ${state_sources})
set_target_properties(weir-state PROPERTIES C_VISIBILITY_PRESET hidden SOVERSION 1 VERSION 1.2.0
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
target_include_directories(weir-state PRIVATE ${CMAKE_BINARY_DIR}/modules/state.hmm
  ${CMAKE_BINARY_DIR}/modules/state.lib
  PUBLIC ${CMAKE_SOURCE_DIR}/src/state/lib)
target_link_libraries(weir-state PRIVATE m)
if(NOT WEIR_SANITIZE AND NOT WEIR_TSAN)
  target_link_options(weir-state PRIVATE -Wl,-z,defs)
endif()

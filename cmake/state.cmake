# The kernels of src/state/hmm that need more than the oldest processor has. Each of these files
# is compiled for one instruction set; which one runs is decided when the program runs.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(wide -ffp-contract=fast -Wno-psabi -O3)
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

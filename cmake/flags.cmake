# One place for every compiler flag.
add_compile_options(
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
  -Wwrite-strings -Wvla -Wconversion -Wno-sign-conversion -Wformat=2 -fno-common
  -ffunction-sections -fdata-sections)
# Enumerators are integer constants here: lengths of pictures, offsets of an operation from a first word.
add_compile_options("$<$<C_COMPILER_ID:Clang>:-Wno-enum-float-conversion;-Wno-enum-enum-conversion>")
if(WEIR_WERROR)
  add_compile_options(-Werror)
endif()
# Results must not depend on the compiler's taste in floating point.
add_compile_options(-ffp-contract=off)
add_link_options(-Wl,--gc-sections)
add_compile_definitions(_GNU_SOURCE)

# A sanitized build runs all tests: optimise it as far as stack traces stay readable.
set(sanitize "")
if(WEIR_SANITIZE)
  set(sanitize -fsanitize=address,undefined)
  add_compile_options(-O1 -fno-sanitize-recover=all -fno-omit-frame-pointer)
  set(WEIR_CHECK ON)
elseif(WEIR_TSAN)
  set(sanitize -fsanitize=thread)
  add_compile_options(-O1 -fno-omit-frame-pointer)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  # Objects that can also be linked without it, which is what tests do.
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(WEIR_FAT_LTO ON)
    add_compile_options(-ffat-lto-objects)
  endif()
endif()

# What Debian hardens its packages with. Modules are position-independent executables' code, not
# shared libraries': -fPIE is named where they are declared (cmake/modules.cmake).
if(WEIR_HARDEN AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT WEIR_SANITIZE AND NOT WEIR_TSAN)
  set(WEIR_PIE ON)
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
  include(CheckCCompilerFlag)
  foreach(flag -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER WEIR_HAS${flag} known)
    check_c_compiler_flag(${flag} ${known})
    if(${known})
      add_compile_options(${flag})
    endif()
  endforeach()
  add_link_options(-Wl,-z,relro -Wl,-z,now)
endif()

# Some two hundred programs with a sanitizer's runtime each: the faster linker saves a minute.
find_program(WEIR_LLD ld.lld)
if(CMAKE_C_COMPILER_ID MATCHES "Clang" AND WEIR_LLD)
  add_link_options(-fuse-ld=lld)
endif()
add_compile_options(${sanitize})
add_link_options(${sanitize})
if(sanitize)
  add_compile_definitions(WEIR_SANITIZED=1)
endif()
if(WEIR_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "fuzzing needs clang; configure with `cmake --preset fuzz`")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  # Modules that parse no input: fuzzing does not instrument them, which makes tests faster.
  set(WEIR_UNINSTRUMENTED stat state/hmm state/lib sim net net/route rank rank/coll store store/dev rpc/nic)
endif()

if(WEIR_CHECK)
  add_compile_definitions(WEIR_CHECK=1)
endif()

# Our own assertions stay on in every build: they are cheap and they are
# about our own mistakes.
foreach(type RELEASE RELWITHDEBINFO MINSIZEREL)
  string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_${type} "${CMAKE_C_FLAGS_${type}}")
endforeach()
string(REPLACE "-O3" "-O2" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")

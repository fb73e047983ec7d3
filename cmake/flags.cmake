# One place for every compiler flag.
add_compile_options(
  -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
  -Wwrite-strings -Wvla -Wconversion -Wno-sign-conversion -Wformat=2 -fno-common
  -ffunction-sections -fdata-sections)
# Results must not depend on the compiler's taste in floating point.
add_compile_options(-ffp-contract=off)
add_link_options(-Wl,--gc-sections)
add_compile_definitions(_GNU_SOURCE)

if(WEIR_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  set(WEIR_CHECK ON)
elseif(WEIR_TSAN)
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

if(WEIR_CHECK)
  add_compile_definitions(WEIR_CHECK=1)
endif()

# Our own assertions stay on in every build: they are cheap and they are
# about our own mistakes.
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
string(REPLACE "-O3" "-O2" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")

# Libraries of the core; without them nothing is built.
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_path(RANDOM123_INCLUDE Random123/philox.h REQUIRED)
set(WEIR_LIBS PkgConfig::YAML PkgConfig::SQLITE PkgConfig::ZSTD PkgConfig::JANSSON m)

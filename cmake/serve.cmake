# The viewer's server: with libmicrohttpd, or a file that says that it is missing; and the page's code.
include(either)
weir_either(report/web libmicrohttpd http.c http_none.c)
target_include_directories(module.report.web PRIVATE ${CMAKE_BINARY_DIR}/web)

# What a program written by `weir lang compile` carries along: the runtime of share/lang, and the
# files that the interpreter uses too, in this order.
set(lang_dir ${CMAKE_SOURCE_DIR}/src/load/ncptl)
set(lang_files
  ${lang_dir}/ncptl_event.h ${lang_dir}/func_math_priv.h ${CMAKE_SOURCE_DIR}/share/lang/runtime_calls.h
  ${CMAKE_SOURCE_DIR}/src/base/mem.h ${CMAKE_SOURCE_DIR}/src/base/str.h)
foreach(name seq scan dump_text log_table mt)
  list(APPEND lang_files ${lang_dir}/${name}_priv.h)
endforeach()
list(APPEND lang_files ${CMAKE_SOURCE_DIR}/src/base/str.c)
foreach(name func_math fault_text seq scan dump_text log_table mt)
  list(APPEND lang_files ${lang_dir}/${name}.c)
endforeach()
foreach(name runtime clock clock_mpi clock_weir comm_mpi comm_serial io_posix io_mpiio)
  list(APPEND lang_files ${CMAKE_SOURCE_DIR}/share/lang/${name}.c)
endforeach()
weir_embed_whole(lang/lang_texts.inc ${lang_files})
target_include_directories(module.load.ncptl PRIVATE ${CMAKE_BINARY_DIR}/lang)

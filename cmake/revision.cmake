# cmake -D SOURCE=... -D OUT=... -P revision.cmake
#
# The commit this source is of: from git, or in a tarball from cmake/revision, which `git archive`
# fills in. The tarball may be unpacked inside another repository.
set(revision "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
    OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(revision "")
  endif()
else()
  file(STRINGS ${SOURCE}/cmake/revision line LIMIT_COUNT 1)
  if(line MATCHES "^[0-9a-f]+$")
    string(SUBSTRING ${line} 0 10 revision)
  endif()
endif()
file(WRITE ${OUT}.new "#define WEIR_REVISION \"${revision}\"\n")
file(COPY_FILE ${OUT}.new ${OUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUT}.new)

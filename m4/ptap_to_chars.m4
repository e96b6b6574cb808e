# SPDX-License-Identifier: Apache-2.0

# PTAP_TO_CHARS
# Fails unless the C++ library has std::to_chars() for a double, which trace/shortest.cc needs.
AC_DEFUN([PTAP_TO_CHARS], [
	AC_MSG_CHECKING([for std::to_chars of a double])
	AC_LANG_PUSH([C++])
	ptap_cxxflags=$CXXFLAGS
	CXXFLAGS="$CXXFLAGS -std=c++17"
	AC_COMPILE_IFELSE(
		[AC_LANG_PROGRAM([[#include <charconv>]], [[char text[32]; std::to_chars(text, text + 32, 0.1);]])],
		[AC_MSG_RESULT([yes])],
		[AC_MSG_ERROR([not found: install a C++ compiler with the library of GCC 11 or later])])
	CXXFLAGS=$ptap_cxxflags
	AC_LANG_POP
])

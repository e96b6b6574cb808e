# SPDX-License-Identifier: Apache-2.0

# PTAP_STATIC_LIBS(VARIABLE, MODULES)
# Sets VARIABLE to the paths of the static archives of the pkg-config MODULES and of all libraries
# that they need, except libc and its parts. They are paths because libtool keeps the order of
# paths, but not that of -Bstatic and -Bdynamic. If pkg-config names a library several times, the
# last place counts.
AC_DEFUN([PTAP_STATIC_LIBS], [
	AC_MSG_CHECKING([for the static archives of $2])
	$1=
	for word in $($PKG_CONFIG --static --libs $2) -lstdc++; do
		case $word in
		-ldl | -lrt | -lm | -lpthread) continue ;;
		-l:*) archive=${word#-l:} ;;
		-l*) archive=lib${word#-l}.a ;;
		*) continue ;;
		esac
		path=$($CC -print-file-name=$archive)
		AS_IF([test "$path" = "$archive"],
			[AC_MSG_ERROR([$archive: not found; install the package that holds it])])
		path=$(readlink -f "$path")
		$1="$(echo "$$1 " | sed "s| $path | |") $path"
	done
	$1="$$1 -lm -static-libgcc"
	AC_MSG_RESULT([found])
])

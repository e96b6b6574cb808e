# SPDX-License-Identifier: Apache-2.0

# PTAP_STATIC_LIBS(VARIABLE, MODULES, MORE)
# Sets VARIABLE to the paths of the static archives of the pkg-config MODULES, and of all libraries that they need, except
# libc and its parts; then those of MORE libraries that exist. They are paths because libtool keeps the order of paths, but
# not that of -Bstatic and -Bdynamic. If pkg-config names a library several times, the last place counts.
# If an archive or a .pc file of MODULES is missing, VARIABLE becomes empty, and VARIABLE_missing says which.
AC_DEFUN([PTAP_STATIC_LIBS], [
	AC_MSG_CHECKING([for the static archives of $2])
	$1=
	$1_missing=
	ptap_dirs=
	ptap_words=
	for module in $2; do
		$PKG_CONFIG --exists "$module" || $1_missing=$module.pc
	done
	AS_IF([test -z "$$1_missing"], [ptap_words="$($PKG_CONFIG --static --libs $2) $3 -lstdc++"])
	for word in $ptap_words; do
		case $word in
		-ldl | -lrt | -lm | -lpthread) continue ;;
		-L*) ptap_dirs="$ptap_dirs ${word#-L}"; continue ;;
		-l:*) archive=${word#-l:} ;;
		-l*) archive=lib${word#-l}.a ;;
		*) continue ;;
		esac
		path=$archive
		for dir in $ptap_dirs; do
			test ! -f "$dir/$archive" || { path=$dir/$archive; break; }
		done
		test "$path" != "$archive" || path=$($CC -print-file-name=$archive)
		AS_IF([test "$path" = "$archive"],
			[case " $3 " in *" $word "*) continue ;; esac
			$1_missing=$archive
			break])
		path=$(readlink -f "$path")
		$1="$(echo "$$1 " | sed "s| $path | |") $path"
	done
	AS_IF([test -n "$$1_missing"],
		[$1=
		AC_MSG_RESULT([$$1_missing is missing])],
		[$1="$$1 -lm -static-libgcc -Wl,--gc-sections"
		AC_MSG_RESULT([found])])
])

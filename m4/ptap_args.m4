# SPDX-License-Identifier: Apache-2.0

# PTAP_ARG_ENABLE(NAME, HELP, DEFAULT, VALUES)
# Defines an --enable switch in one line. Sets enable_NAME to one of the VALUES (space-separated) and
# refuses anything else.
AC_DEFUN([PTAP_ARG_ENABLE], [
	AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1=VALUE], [$2: $4 @<:@$3@:>@])], [], [enable_$1=$3])
	case " $4 " in
	*" $enable_$1 "*) ;;
	*) AC_MSG_ERROR([--enable-$1=$enable_$1: not one of: $4]) ;;
	esac
])

# PTAP_ARG_WITH(NAME, HELP, DEFAULT, VALUES)
# Defines a --with switch in the same way. Sets with_NAME.
AC_DEFUN([PTAP_ARG_WITH], [
	AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=VALUE], [$2: $4 @<:@$3@:>@])], [], [with_$1=$3])
	case " $4 " in
	*" $with_$1 "*) ;;
	*) AC_MSG_ERROR([--with-$1=$with_$1: not one of: $4]) ;;
	esac
])

# PTAP_PROG(VARIABLE, PROGRAM, DEBIAN-PACKAGE)
# Requires a program without which the build is impossible.
AC_DEFUN([PTAP_PROG], [
	AC_PATH_PROG([$1], [$2], [no])
	AS_IF([test "$$1" = no], [AC_MSG_ERROR([$2: not found; install $3])])
])

# PTAP_SYSTEMD_DIR(VARIABLE, FOLDER, HELP)
# Sets VARIABLE to a directory that systemd reads: the DIR of --with-VARIABLE=DIR, or `no` with --without-VARIABLE. By
# default it is PREFIX/lib/FOLDER, which systemd reads for the prefixes /usr and /usr/local. For /usr systemd's
# pkg-config file takes precedence, because distributions change the directory.
AC_DEFUN([PTAP_SYSTEMD_DIR], [
	AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=DIR], [$3 @<:@PREFIX/lib/$2@:>@])],
		[$1=$withval], [$1='${prefix}/lib/$2'
		AS_IF([test "$prefix" = /usr], [PKG_CHECK_VAR([PTAP_$1], [systemd], [$1], [$1=$PTAP_$1])])])
	AC_SUBST([$1])
])

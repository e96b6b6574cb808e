# SPDX-License-Identifier: Apache-2.0
# find_package(proftap) reads this file, which is in LIBDIR/cmake/proftap, or in PREFIX/share/proftap if vcpkg installed it.
# It defines the target proftap::proftap. All paths start at this file, so an installed tree may be moved as a whole.
if(TARGET proftap::proftap)
	return()
endif()
get_filename_component(proftap_prefix "${CMAKE_CURRENT_LIST_DIR}/../.." REALPATH)
find_library(proftap_library proftap PATHS "${proftap_prefix}" "${proftap_prefix}/lib"
	NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
while(NOT EXISTS "${proftap_prefix}/include/proftap/proftap.h" AND NOT proftap_prefix STREQUAL "/")
	get_filename_component(proftap_prefix "${proftap_prefix}" DIRECTORY)
endwhile()

if(NOT proftap_library)
	set(proftap_FOUND FALSE)
	set(proftap_NOT_FOUND_MESSAGE "libproftap is not in the folder two levels above ${CMAKE_CURRENT_LIST_DIR}")
elseif(NOT EXISTS "${proftap_prefix}/include/proftap/proftap.h")
	set(proftap_FOUND FALSE)
	set(proftap_NOT_FOUND_MESSAGE "no folder above ${proftap_library} has include/proftap/proftap.h")
else()
	add_library(proftap::proftap UNKNOWN IMPORTED)
	set_target_properties(proftap::proftap PROPERTIES
		IMPORTED_LOCATION "${proftap_library}"
		INTERFACE_INCLUDE_DIRECTORIES "${proftap_prefix}/include")
	if(proftap_library MATCHES "\\.a$")
		set_target_properties(proftap::proftap PROPERTIES INTERFACE_LINK_LIBRARIES "-pthread;${CMAKE_DL_LIBS}")
	endif()
endif()
unset(proftap_library CACHE)
unset(proftap_prefix)

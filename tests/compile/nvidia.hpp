/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares our declarations with NVIDIA's at compile time. Ours are in the namespace ours, because
 * many names are the same. With -DWRONG=1 each comparison fails.
 */
#ifndef TESTS_COMPILE_NVIDIA_HPP
#define TESTS_COMPILE_NVIDIA_HPP

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <type_traits>
#include <wchar.h>

/* Our headers are C. */
#define _Static_assert static_assert

#ifndef WRONG
#define WRONG 0
#endif

#define EQUAL(a, b) static_assert((long long)(a) + WRONG == (long long)(b), #a " and " #b)
#define NUMBER(mine, theirs) EQUAL(ours::mine, theirs)
#define SIZE(mine, theirs) EQUAL(sizeof(ours::mine), sizeof(theirs))
#define FIELD(mine, member, theirs, their_member)                            \
	EQUAL(offsetof(ours::mine, member), offsetof(theirs, their_member)); \
	EQUAL(sizeof(((ours::mine *)0)->member), sizeof(((theirs *)0)->their_member))
/* |mine| is a function pointer in the struct |table|. */
#define FUNCTION(table, mine, theirs) \
	EQUAL((is_called_alike<decltype(ours::table::mine), decltype(&theirs)>::value), true)

/*
 * Whether a value of A is passed like one of B. If both are pointers to numbers, enumerations or
 * pointers, their targets must have the same size, too; other targets are compared elsewhere or are
 * opaque.
 */
template <typename A, typename B> constexpr bool is_passed_alike()
{
	using From = std::remove_pointer_t<A>;
	using To = std::remove_pointer_t<B>;

	if constexpr (std::is_void_v<A> || std::is_void_v<B>)
		return std::is_same_v<A, B>;
	else if constexpr (!std::is_pointer_v<A> || !std::is_pointer_v<B>)
		return std::is_pointer_v<A> == std::is_pointer_v<B> &&
		       std::is_floating_point_v<A> == std::is_floating_point_v<B> &&
		       sizeof(A) == sizeof(B);
	else if constexpr (std::is_scalar_v<From> && std::is_scalar_v<To>)
		return sizeof(From) == sizeof(To);
	else
		return std::is_function_v<From> == std::is_function_v<To>;
}

template <typename A, typename B> struct is_called_alike : std::false_type {
};

template <typename A, typename... As, typename B, typename... Bs>
struct is_called_alike<A (*)(As...), B (*)(Bs...)> {
	template <typename X = void> static constexpr bool compare()
	{
		if constexpr (sizeof...(As) != sizeof...(Bs))
			return false;
		else
			return is_passed_alike<A, B>() && (is_passed_alike<As, Bs>() && ...);
	}
	static constexpr bool value = compare();
};

#endif

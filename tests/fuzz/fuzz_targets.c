/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of lists and ranges of targets. A refusal has a message. An accepted list is a
 * bounded number of words, and each of them stands for itself if it is parsed alone. Only an empty
 * list gives an empty word, which address_parse() refuses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/target/target_words.h"
#include "tests/fuzz/fuzz.h"

static void check_word(const char *word)
{
	struct target_words again = {0};
	struct diag d = DIAG_INIT;
	int r = target_words_add(&again, word, &d);

	if (!word[0] || (!r && (again.n != 1 || strcmp(again.v[0], word) != 0)))
		abort();
	target_words_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_free_ char *text = strndup((const char *)data, n_bytes);
	struct target_words words = {0};
	struct diag d = DIAG_INIT;
	int r = target_words_add(&words, text, &d);

	if ((r && r != -ENOMEM && (r != -EINVAL || !d.text[0])) || words.n > TARGET_WORDS_MAX)
		abort();
	for (size_t i = 0; !r && text[0] && i < words.n; i++)
		check_word(words.v[i]);
	target_words_deinit(&words);
	return 0;
}

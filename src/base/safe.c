/*
 * safe: names from outside this program, made safe for a terminal.
 *
 * A process chooses its own name, and those of its files, functions and static probes. A terminal
 * interprets some characters as commands, which can hide or forge other output. One rule for all of
 * them: each byte of a control character becomes '?'. These are C0 and DEL, C1 (as UTF-8 or as a
 * lone byte, as U+009B that begins commands), the characters that change the direction of text, and
 * the line separators of Unicode. All other text is kept, in any language.
 */
#include "base/base.h"

/* The character at s, of n bytes, as UTF-8; its length. A byte that is not UTF-8 is a character by
 * itself. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *c)
{
	size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 1;

	*c = s[0];
	if (len == 1 || len > n || s[0] > 0xf4)
		return 1;
	*c = s[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			*c = s[0];
			return 1;
		}
		*c = *c << 6 | (s[i] & 0x3f);
	}
	return len;
}

static bool is_command(uint32_t c, bool lines)
{
	if (lines && (c == '\n' || c == '\t'))
		return false;
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void dt_make_safe(char *s, size_t n, bool lines)
{
	for (size_t at = 0, len; at < n; at += len) {
		uint32_t c;

		len = 1;
		if (s[at] >= 0x20 && s[at] < 0x7f)
			continue;
		len = decode((const unsigned char *)s + at, n - at, &c);
		if (is_command(c, lines))
			memset(s + at, '?', len);
	}
}

size_t dt_utf8_length(const char *s, size_t n)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800,
					 0x10000}; /* shorter ones are not UTF-8 */
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c;
	size_t len;

	if (n == 0)
		return 0;
	len = decode(p, n, &c);
	if (len == 1)
		return c < 0x80;
	return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : len;
}

/* For the runtime, which has no C library: characters of ASCII. */
#ifndef DT_RUNTIME_CTYPE_H
#define DT_RUNTIME_CTYPE_H

static inline int isdigit(int c)
{
	return c >= '0' && c <= '9';
}

static inline int isxdigit(int c)
{
	return isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static inline int isspace(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif

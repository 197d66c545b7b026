/*
 * error: an error is a value that callers own; this file fills it. The texts of the library's own
 * codes are in edt.def, beside their names; the tags of errors in programs are in tags.def.
 */
#include <stdio.h>

#include "base/base.h"

static const char *const texts[] = {
#define DT_EDT(name, text) text,
#include "base/edt.def"
#undef DT_EDT
};

static const char *const tag_names[] = {
    NULL,
#define DT_TAG(name, help) #name,
#include "base/tags.def"
#undef DT_TAG
};

const char *dt_tag_name(enum dt_tag tag)
{
	return tag_names[tag];
}

const char *dt_strerror(int code)
{
	int i = code - (EDT_BASE_ + 1);
	const char *s;

	if (i >= 0 && (size_t)i < DT_NELEM(texts))
		return texts[i];
	if (code == 0)
		return "No error";
	s = strerrordesc_np(code); /* unlike strerror(), safe with several handles and threads */
	return s != NULL ? s : "Unknown error";
}

int dt_err(dt_error *e, int code, const char *fmt, ...)
{
	char text[sizeof(e->text)]; /* the arguments may point into e */
	va_list ap;

	if (e == NULL)
		return -1;
	if (fmt != NULL) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
	} else {
		snprintf(text, sizeof(text), "%s", dt_strerror(code));
	}
	for (char *p = text; *p != '\0'; p++) /* a message is a single line, whatever it quotes */
		if (*p == '\n' || *p == '\r' || *p == '\t')
			*p = ' ';
	dt_make_safe(text, strlen(text), false);
	memset(e, 0, sizeof(*e));
	e->code = code;
	memcpy(e->text, text, sizeof(text));
	return -1;
}

/*
 * lex_word: how keywords, operators and tokens are spelled.
 *
 * Headers of the C library contain words of GNU C. Those that mean the same as a keyword are listed
 * as one; the others are skipped, so that the grammar need not include them.
 */
#include "lang/lex.h"

struct word {
	const char *name;
	int token;
};

static const struct word words[] = {
    /* sorted */
    {"_Alignas", SKIP_PARENS},
    {"_Alignof", T_ALIGNOF},
    {"_Atomic", SKIP_WORD},
    {"_Complex", SKIP_WORD},
    {"_Noreturn", SKIP_WORD},
    {"_Static_assert", SKIP_PARENS},
    {"_Thread_local", SKIP_WORD},
    {"__alignof", T_ALIGNOF},
    {"__alignof__", T_ALIGNOF},
    {"__asm", SKIP_PARENS},
    {"__asm__", SKIP_PARENS},
    {"__attribute", SKIP_PARENS},
    {"__attribute__", SKIP_PARENS},
    {"__builtin_offsetof", T_OFFSETOF},
    {"__const", T_CONST},
    {"__const__", T_CONST},
    {"__extension__", SKIP_WORD},
    {"__inline", T_INLINE},
    {"__inline__", T_INLINE},
    {"__restrict", T_RESTRICT},
    {"__restrict__", T_RESTRICT},
    {"__signed", T_SIGNED},
    {"__signed__", T_SIGNED},
    {"__thread", SKIP_WORD},
    {"__volatile", T_VOLATILE},
    {"__volatile__", T_VOLATILE},
    {"auto", T_AUTO},
    {"break", T_BREAK},
    {"case", T_CASE},
    {"char", T_CHAR},
    {"const", T_CONST},
    {"continue", T_CONTINUE},
    {"counter", T_COUNTER},
    {"default", T_DEFAULT},
    {"do", T_DO},
    {"double", T_DOUBLE},
    {"else", T_ELSE},
    {"enum", T_ENUM},
    {"extern", T_EXTERN},
    {"float", T_FLOAT},
    {"for", T_FOR},
    {"goto", T_GOTO},
    {"if", T_IF},
    {"import", T_IMPORT},
    {"inline", T_INLINE},
    {"int", T_KW_INT},
    {"long", T_LONG},
    {"offsetof", T_OFFSETOF},
    {"probe", T_PROBE},
    {"provider", T_PROVIDER},
    {"register", T_REGISTER},
    {"restrict", T_RESTRICT},
    {"return", T_RETURN},
    {"self", T_SELF},
    {"short", T_SHORT},
    {"signed", T_SIGNED},
    {"sizeof", T_SIZEOF},
    {"static", T_STATIC},
    {"string", T_KW_STRING},
    {"stringof", T_STRINGOF},
    {"struct", T_STRUCT},
    {"switch", T_SWITCH},
    {"this", T_THIS},
    {"translator", T_TRANSLATOR},
    {"typedef", T_TYPEDEF},
    {"union", T_UNION},
    {"unsigned", T_UNSIGNED},
    {"userland", T_USERLAND},
    {"void", T_VOID},
    {"volatile", T_VOLATILE},
    {"while", T_WHILE},
    {"xlate", T_XLATE},
};

int dt_lex_find_word(const char *s, size_t len)
{
	size_t lo = 0, hi = DT_NELEM(words);

	if (*s != '_' && (*s < 'a' || *s > 'x')) /* most constants */
		return 0;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int c = *s - *words[mid].name;

		if (c == 0)
			c = strncmp(s, words[mid].name, len);
		if (c == 0 && words[mid].name[len] == '\0')
			return words[mid].token;
		if (c > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

int dt_keyword(const char *word, size_t len)
{
	int token = dt_lex_find_word(word, len);

	return token > 0 ? token : 0;
}

static const struct {
	char text[4];
	int token;
} operators[] = {
    /* longest first */
    {"...", T_ELLIPSIS}, {"<<=", T_SHL_EQ}, {">>=", T_SHR_EQ}, {"->", T_ARROW},
    {"++", T_INC},	 {"--", T_DEC},	    {"<<", T_SHL},     {">>", T_SHR},
    {"<=", T_LE},	 {">=", T_GE},	    {"==", T_EQ},      {"!=", T_NE},
    {"&&", T_ANDAND},	 {"^^", T_XORXOR},  {"||", T_OROR},    {"+=", T_ADD_EQ},
    {"-=", T_SUB_EQ},	 {"*=", T_MUL_EQ},  {"/=", T_DIV_EQ},  {"%=", T_MOD_EQ},
    {"&=", T_AND_EQ},	 {"^=", T_XOR_EQ},  {"|=", T_OR_EQ},   {"??", T_OTHERWISE},
};

int dt_lex_find_operator(const char *s, size_t left, size_t *len)
{
	if (left > 1 && strchr("=+-&|^<>.?", s[1]))
		for (size_t i = 0; i < DT_NELEM(operators); i++) {
			*len = strlen(operators[i].text);
			if (*len <= left && memcmp(s, operators[i].text, *len) == 0)
				return operators[i].token;
		}
	*len = 1;
	return *s && strchr("(){}[],;.=+-*/%&|^~!<>?:", *s) ? *s : 0;
}

static const char *kind_text(int kind, char one[2])
{
	if (kind > 0 && kind < 256) {
		one[0] = (char)kind;
		one[1] = '\0';
		return one;
	}
	if (kind == T_PRED_OPEN || kind == T_PRED_CLOSE)
		return "/";
	for (size_t i = 0; i < DT_NELEM(operators); i++)
		if (operators[i].token == kind)
			return operators[i].text;
	return "?";
}

const char *dt_tok_name(const dt_token *t, dt_buf *scratch)
{
	uint32_t len = t->len < 60 ? t->len : 60;
	char one[2];

	dt_buf_reset(scratch);
	if (t->kind == T_STRING) {
		dt_buf_putc(scratch, '"');
		dt_buf_escape(scratch, t->text, len);
		dt_buf_putc(scratch, '"');
	} else if (t->text) {
		if (t->module)
			dt_buf_printf(scratch, "%.60s`", t->module);
		if (t->kind == T_AGG)
			dt_buf_putc(scratch, '@');
		dt_buf_add(scratch, t->text, len);
	} else {
		dt_buf_puts(scratch, kind_text(t->kind, one));
	}
	return scratch->s;
}

# -x oformat, -O FORMAT, --libxo, #pragma D option: the output format.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
prog='BEGIN { trace("x"); exit(0); }'
# -O alone has no effect; the word after it is a format only if it is the name of one
dt -O -n "$prog"
expect_match '^ *[0-9]+ +1 +:BEGIN +x *$' "$out"
dt -qO text -n 'BEGIN { printf("hi\n"); exit(0); }'
expect "hi

" "$out$err"
dt -q -O words -n 'BEGIN { printf("%s\n", $$1); exit(0); }'
expect "words

" "$out$err"
# invalid formats
dt -O nosuch -n "$prog"
expect_match '^dtrace: unknown output format -O nosuch: expected text\|json\|ndjson\|' "$err"
expect "1 1" "$status $(wc -l <"$TMP/err")" "one line"
printf 'BEGIN { exit(0); }\n' >plain.d
dt -O nosuch -s plain.d
expect_match '^dtrace: unknown output format -O nosuch: ' "$err"
dt -x oformat=nosuch -n "$prog"
expect "1 dtrace: failed to set -x oformat=nosuch: invalid value \"nosuch\" for option \"oformat\": expected $(sed -n 's/^DT_CHOICE(OFORMAT, .*, "\(.*\)")/\1/p' "$SRC/src/base/options.def" | paste -sd '|')" "$status $err"
dt --libxo xml -n "$prog"
expect_match '^dtrace: failed to set -x oformat=xml: invalid value "xml"' "$err"
printf '#pragma D option oformat=nosuch\nBEGIN { exit(0); }\n' >bad.d
dt -s bad.d
expect_match 'line 1: .*invalid value "nosuch" for option "oformat"' "$err"
# it cannot change while tracing
dt -qn 'BEGIN { setopt("oformat", "json"); exit(0); }'
expect_match 'setopt\("oformat", "json"\)' "$err"

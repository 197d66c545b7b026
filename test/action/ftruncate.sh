# ftruncate(): the output file is truncated; on a pipe nothing happens. freopen() takes a format.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
prog='BEGIN { printf("gone\n"); } BEGIN { ftruncate(); printf("kept\n"); exit(0); }'
dt -q -o f -n "$prog"
expect "kept" "$(cat f)"
"$DTRACE" -x engine=vm -qn "$prog" | cat >g
expect "gone
kept" "$(cat g)"
dt -qw -n 'BEGIN { printf("one\n"); freopen("%s.%d", "file", 7); printf("two\n"); freopen(""); printf("three\n"); exit(0); }'
expect "one
three" "$(head -n 2 <<<"$out")"
expect "two" "$(cat file.7)"
dt -qw -n 'BEGIN { freopen("/nosuch/file"); printf("still here\n"); exit(0); }'
expect 'dtrace: freopen("/nosuch/file"): No such file or directory' "$err"
expect "still here" "$(echo $out)"
expect 0 "$status"

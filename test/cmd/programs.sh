# Programs of every kind, several at a time: they share variables and run in the order given.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
echo 'BEGIN { printf("file %s %d\n", $$0, x++); }' >a.d
echo 'int x; BEGIN { x = 1; }' >b.d
prints() { # expected words, arguments
	local want=$1
	shift
	dt -q "$@" -n 'BEGIN { exit(0); }'
	expect "0 $want " "$status $(echo $out) $err" "$*"
}
prints "file a.d 1 text dtrace 2" -s b.d -s a.d -n 'BEGIN { printf("text %s %d\n", $$0, x); }'
prints "text 1 file a.d 1" -s b.d -n 'BEGIN { printf("text %d\n", x); }' -s a.d
prints "a b c" -n 'BEGIN { printf("a\n"); }' -P 'dtrace /probename == "BEGIN"/ { printf("b\n"); }' -i '1 { printf("c\n"); }'
words='BEGIN { printf("%d %s\n", $1, $$2); exit(0); }'
dt -qn "$words" 7 word
expect "7 word" "$(echo $out)"
dt 7 -qn "$words" word
expect "7 word" "$(echo $out)"
dt -qn "$words" -- -5 -x
expect "-5 -x" "$(echo $out)"
dt -q -n 'BEGIN { printf("first\n"); exit(0); }' -n 'BEGIN { printf("not run\n"); }' -n 'END { printf("end\n"); }'
expect "first end" "$(echo $out)"
# what the letters mean
matched() { # expected description and count, arguments
	local want=$1
	shift
	dt "$@" -n 'BEGIN { exit(0); }'
	expect "dtrace: description $want" "$(head -n 1 <<<"$err")"
}
matched "'dtrace' matched 3 probes" -P dtrace
matched "'dtrace:' matched 3 probes" -m dtrace:
matched "'dtrace::' matched 3 probes" -f dtrace::
matched "'dtrace:::' matched 3 probes" -n dtrace:::
matched "'1' matched 1 probe" -i 1
matched "'BEGIN,END' matched 2 probes" -n BEGIN,END
matched "'END ' matched 1 probe" -n 'END /1/ { trace(1); }'
# invalid combinations
dt -i 0 -n BEGIN
expect_match '^dtrace: invalid probe specifier 0: ' "$err"
dt -e -n 'a:b:c:d:e'
expect_match '^dtrace: invalid probe specifier a:b:c:d:e: .*Overspecified probe description' "$err"
dt -e -P 'a:b'
expect_match 'Overspecified probe description' "$err"
dt -e -m 'a:b:c'
expect_match 'Overspecified probe description' "$err"
dt -e -n 'BEGIN { trace($1); }'
expect_match '\$1' "$err"
dt -e -n 'BEGIN' unused
expect 1 "$status"
expect_match 'unused' "$err"
# exit statuses
for s in 0 1 7 255; do
	dt -qn "BEGIN { exit($s); }"
	expect "$s" "$status"
done
dt -qn 'BEGIN { exit(256 + 3); }'
expect 3 "$status"
dt -qn 'BEGIN { exit(-1); }'
expect 255 "$status"
# a fault at run time is not a failure of the run
dt -qn 'BEGIN { trace(*(int *)0); }' -n 'BEGIN { exit(0); }'
expect 0 "$status"

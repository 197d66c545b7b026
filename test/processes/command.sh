# -c: words as in a shell, several commands, how they end, what cannot be run.
. "$SRC/test/lib.bash"
words() { # WANT COMMAND
	dt -q -c "$2" -n 'BEGIN { }'
	expect "0 " "$status $err" "$2"
	expect "$1" "$(sed '/^$/d' "$TMP/out")" "$2"
}
words '<a><b c><d>' "printf <%s> a 'b c' d"
words '<a b><><$HOME>' 'printf <%s> "a b" '"'' \$HOME"
words '<a"b><c'\''d>' "printf <%s> 'a\"b' \"c'd\""
words '<x y><z\><\n>' 'printf <%s> x\ y "z\\" "\n"'
words '<ab><q>' 'printf <%s> a\
b "q\
"'
words '<*><$(id)><`id`><~>' 'printf <%s> * $(id) `id` ~'
words '<ab"c>' "printf '<%s>' a'b\"'c"
words '<one>' '	printf
<%s> one  '
for bad in "echo 'a" 'echo "a' '' '   '; do
	dt -c "$bad" -n BEGIN
	expect 1 "$status" "$bad"
	expect_match '^dtrace: failed to execute .*: (a quote is not closed|no command given)$' "$err"
done

# what cannot be run
fail() { # WHY COMMAND
	dt -c "$2" -n BEGIN
	expect "1 dtrace: failed to execute $2: $1" "$status $err"
}
fail "No such file or directory" nosuchcommand
fail "No such file or directory" "$TMP/none"
fail "Permission denied" "$TMP"
echo text >"$TMP/text"
fail "Permission denied" "$TMP/text"
printf '#!/no/such/interpreter\n' >"$TMP/lost"
chmod +x "$TMP/lost"
fail "No such file or directory" "$TMP/lost"
# a script without #! is the shell's, as for execvp(3)
printf 'echo script\n' >"$TMP/plain"
chmod +x "$TMP/plain"
words script "$TMP/plain"

# several: $target is the first, the trace ends with the last, each is reported
dt -c "sh -c 'echo first \$\$; exit 3'" -c "sh -c 'echo second \$\$; kill -USR1 \$\$'" -c "sleep 0.2" -n 'BEGIN { printf("target %d", $target); }'
expect 0 "$status"
first=$(sed -n 's/^first //p' "$TMP/out") second=$(sed -n 's/^second //p' "$TMP/out")
expect_match "target $first\$" "$out"
expect_match "^dtrace: pid $first exited with status 3\$" "$err"
expect_match "^dtrace: pid $second terminated by SIGUSR1\$" "$err"
expect 3 "$(grep -c 'pid [0-9]* ' "$TMP/err")"
expect_match 'dtrace: pid [0-9]+ has exited$' "$(tail -n 1 "$TMP/err")"

# if one cannot be run, the others are ended before they have done anything
dt -c "touch $TMP/never" -c nosuchcommand -n BEGIN
expect 1 "$status"
[ ! -e "$TMP/never" ] || { echo "the command ran"; fails=1; }
# -e and -l run none
dt -e -c "touch $TMP/never" -n BEGIN
dt -l -c "touch $TMP/never" -n BEGIN
[ ! -e "$TMP/never" ] || { echo "the command ran"; fails=1; }
# quiet: no message
dt -q -c 'sh -c "exit 3"' -c 'sh -c "kill -9 \$\$"' -n 'BEGIN { }'
expect "0 " "$status $err"
# the command inherits nothing: descriptors, ignored signals, tracer
dt -q -c "sh -c 'ls -l /proc/self/fd | grep -c ^l; grep -E \"^(SigIgn|SigBlk|TracerPid)\" /proc/self/status'" -n 'BEGIN { }'
got=$(grep . "$TMP/out")
expect "$(sh -c 'ls -l /proc/self/fd | grep -c ^l; grep -E "^(SigIgn|SigBlk|TracerPid)" /proc/self/status' </dev/null 2>/dev/null)" "$got"

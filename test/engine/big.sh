# timeout: 180
# Large programs load: many clauses, variables, aggregations, keys, long clauses, long strings.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
load="$TMP/load -t 1"
clauses=$(scale 1000)
[ "$clauses" -ge 100 ] || clauses=100

same() { # a script that both engines can run prints the same on both
	timeout 300 "$DTRACE" -x engine=vm -q "$@" >"$TMP/want" 2>"$TMP/want.err" </dev/null
	local want=$?
	[ $want = 0 ] || { echo "$*: $(head -n 1 "$TMP/want.err")"; fails=1; }
	ktrace -q "$@"
	expect $want "$status" "$*: $(head -n 1 "$TMP/err")"
	expect "$(cat "$TMP/want")" "$(cat "$TMP/out")" "$*"
	expect "$(cat "$TMP/want.err")" "$(cat "$TMP/err")" "$*: messages"
}
repeat() { # count, text with # for the number
	local i
	for ((i = 0; i < $1; i++)); do printf '%s\n' "${2//\#/$i}"; done
}

{ echo "this int64_t n;"; repeat $clauses 'BEGIN { printf("%d %s\n", #, probename); @[# % 7] = count(); this->n += #; }'; echo 'BEGIN { trace(this->n); exit(0); }'; } >"$TMP/clauses.d"
same -s "$TMP/clauses.d"
{ repeat $((clauses / 5)) 'BEGIN /strstr("abc#", "c") != NULL/ {
	x = strjoin("abc#", substr("hello", 1)); y[x, #] = strtok("a/b/c", "/"); trace(strlen(x)); @[y[x, #], #] = lquantize(#, 0, 100, 1);
	@b[execname] = avg(#); printf("%s %d\n", basename("/a/b/#"), index("abc", "c")); this->s = strjoin(cleanpath("/a/../b"), dirname("/a/b"));
	@c[this->s] = max(#); }'; echo 'BEGIN { exit(0); }'; } >"$TMP/strings.d"
same -s "$TMP/strings.d"
{ repeat 100 'BEGIN { trace(*(int *)#); }'; repeat 50 'ERROR { @e[# % 5] = count(); printf("E# %d\n", arg1); }'; echo 'BEGIN { exit(0); }'; } >"$TMP/errors.d"
same -s "$TMP/errors.d"
{ repeat 150 'BEGIN { g# = #; self->t# = #; this->l# = #; s# = "x#"; a#[#] = #; @m#[#] = count(); printf("%d %d\n", a#[#], self->t# + this->l# + g#); }'
	echo 'BEGIN { exit(0); }'; } >"$TMP/variables.d"
same -s "$TMP/variables.d"
{ echo 'BEGIN {'; repeat 300 '@[#, "k#"] = quantize(#); x# = strjoin("a", "#");'; repeat 300 'printf("%d %s\n", #, x#);'; echo 'exit(0); }'; } >"$TMP/actions.d"
same -s "$TMP/actions.d"
{ echo 'BEGIN {'; repeat 1500 'printf("%d %s\n", #, "text");'; echo 'exit(0); }'; } >"$TMP/far.d"
same -s "$TMP/far.d"
{ echo 'int x; BEGIN {'; repeat 300 'if (x >= #) { x += #; } else { x -= 1; y["a", x] = #; }'; echo 'trace(x); exit(0); }'; } >"$TMP/ifs.d"
same -s "$TMP/ifs.d"
{ printf 'BEGIN /1'; repeat 500 ' && pid != -#'; repeat 200 ' && execname != "x#"'; printf '/ { trace(1); exit(0); }'; } >"$TMP/and.d"
same -s "$TMP/and.d"
deep=x; for i in $(seq 100); do deep="($deep + $i)"; done
same -n "int x; BEGIN { trace($deep); exit(0); }"
format= args=
for i in $(seq 100); do format="$format %d %s" args="$args, $i, strjoin(\"s\", \"$i\")"; done
same -n "BEGIN { printf(\"$format\\n\"$args); exit(0); }"
# long strings
long=$(printf 'x%.0s' $(seq 2000))
{
	for what in 'trace(strlen(s))' 'trace(s)' 'a[s] = 1' 'trace(a[s])' '@[s] = count()' 'self->s = s' 'this->s = self->s; trace(strstr(this->s, "xxx") == s)' \
		'trace(substr(s, 3990))' 'trace(strlen(strjoin(s, s)))' 'printf("%s %s\n", s, substr(s, 2))' 'trace(index(s, "y"))' 'trace(strtok(s, "y"))'; do echo "BEGIN { $what; }"; done
	echo 'BEGIN { exit(0); }'
} >"$TMP/long.d"
same -x strsize=4096 -n "BEGIN { s = strjoin(\"$long\", \"$long\"); }" -s "$TMP/long.d"
same -x strsize=1 -n 'BEGIN { s = "abc"; trace(s); trace(strlen(s)); exit(0); }'
# keys
same -n 'BEGIN { @[strjoin("a", "1"), strjoin("b", "2"), "c", "d", execname, probename, strjoin("g", "7"), strjoin("h", "8")] = count();
	a[strjoin("a", "1"), strjoin("b", "2"), "c", "d", execname, probename, strjoin("g", "7"), strjoin("h", "8")] = 5;
	trace(a["a1", "b2", "c", "d", execname, "BEGIN", "g7", "h8"]); exit(0); }'
# speculations
{ repeat 100 'BEGIN { s# = speculation(); }'; repeat 100 'BEGIN { speculate(s#); printf("%d\n", #); }'; repeat 50 'BEGIN { commit(s#); }'; repeat 50 'BEGIN { discard(s#); }'
	echo 'BEGIN { exit(0); }'; } >"$TMP/spec.d"
same -x nspec=1000 -s "$TMP/spec.d"

# on a live probe
{ repeat $clauses 'syscall::getppid:entry /pid == $target && arg0 != 100000000#/ { @c[#, execname] = count(); self->a[# % 10] = timestamp; @n = count(); }'
	echo 'END { printa("n %@d\n", @n); }'; } >"$TMP/live.d"
ktrace -q -c "$load -n 3" -s "$TMP/live.d"
expect 0 "$status"
expect "" "$err"
expect "n $((3 * clauses))" "$(grep ^n <<<"$out")"
expect $clauses "$(lines '  load  ')"
{ repeat 100 'syscall::getppid:return /pid == $target/ { printf("%s %d %s\n", execname, #, strjoin(probefunc, "#")); stack(5); @[ustack(3), #] = quantize(arg1); }'
	repeat 50 'profile-97 /pid == $target/ { @p#[stack(4), #] = count(); }'; } >"$TMP/live2.d"
ktrace -q -c "$load -n 3" -s "$TMP/live2.d"
expect 0 "$status"
expect "" "$err"
expect 300 "$(lines '^load [0-9]+ getppid[0-9]+$')"
# all system calls
ktrace -q -c "$load -n 3" -n 'syscall:::entry /pid == $target/ { @[probefunc] = count(); @t[probefunc, tid] = quantize(arg0); } syscall:::return /pid == $target/ { @r[probefunc, errno] = count(); }
	END { printa("%s %@d\n", @); }'
expect 0 "$status"
expect_match '^getppid 3$' "$out"

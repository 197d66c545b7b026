# The room that a record takes: what fits exactly runs, with 8 bytes less the clause is dropped as a whole.
# timeout: 120
# uses: root bpf
. "$SRC/test/lib.bash"
engines=vm
[ -n "${SLOW-}" ] || ! "$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' 2>/dev/null || engines="vm bpf"

# The second clause ends the trace, also if its own record has no room; its status says whether the first has run.
try() { # ENGINE SIZE STATEMENTS
	timeout 100 "$DTRACE" -x engine="$1" -x bufsize="$2" -wqn "struct s { int a, b, c; }; int ran; BEGIN /(ran = 5)/ { $3 } BEGIN { exit(ran ? ran : 1); }" \
		>"$TMP/out" 2>&1
	echo $?
}
room() { # BYTES STATEMENTS
	local need=$((($1 + 7) / 8 * 8)) engine
	for engine in $engines; do
		expect 5 "$(try $engine $need "$2")" "$engine, $need bytes: $2"
		[ $need = 8 ] || expect 1 "$(try $engine $((need - 8)) "$2")" "$engine, $((need - 8)) bytes: $2"
	done
}
room 16 ''
room 16 'trace(1);'
room 16 'trace((char)1);'
room 24 'trace(1LL);'
room 20 'trace((char)1); trace(1);'
room 32 'trace(1); trace((char)1); trace(1LL);'
room 8 'y = 1;' # nothing of these is recorded, so there is no record at all
room 8 'chill(1);'
room 8 'discard(speculation());'
room 16 'y = 1; chill(1); trace(1);'
room 16 'speculate(speculation()); trace(1);' # the room is asked for although the record is not there
room 272 'trace("a");'
room 24 'printf("x");'
room 20 'printf("%d %d", 1, 2);'
room 24 'ftruncate();'
room 24 'freopen("");'
room 16 'system(": %d", 1);'
room 24 'sym(0);'
room 24 'mod(0);'
room 32 'usym(1);'
room 32 'uaddr(1);'
room 32 'tracemem(alloca(16), 16);'
room 28 'tracemem(alloca(13), 13);'
room 24 'trace(*(struct s *)alloca(12));'
engines=${engines#vm} # the interpreter has no stacks
room 40 'stack(3);'
room 48 'ustack(3);'
room 64 'ustack(3, 16);'

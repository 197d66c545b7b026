# The process engine: ustack(), ucaller and ustackdepth; the same as those of the kernel engine, and no load that crashes.
# needs: gcc x86-64
# uses: root bpf
. "$SRC/test/lib.bash"
build stacks process/stacks.c -O2 -fomit-frame-pointer -lpthread
engine=process
inside() { # the program's own output is in $TMP/own
	"$DTRACE" -x engine=$engine -x evaltime=postinit -o "$TMP/out" "$@" >"$TMP/own" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
	rm -f "$TMP/out"
}
# names without offsets, one line for each stack, with what is before and after it; what the C library does not name is "?",
# and so are its local functions, which have names only where its debug file is installed
names() {
	awk 'function flush() { if (s) print s; s = ""; frames = 0 }
		!NF && frames { flush() }
		NF { sub(/\+0x.*/, "", $1); sub(/`(0x.*|start_thread|__libc_start_call_main)$/, "`?", $1); s = s $1 " "; if ($1 ~ /`/) frames++; else if (frames) flush() }
		END { flush() }' <<<"$out"
}
main='stacks`main libc.so.6`\? '

inside -q -c "$TMP/stacks" -n 'pid$target:a.out:leaf:entry { @[arg0, ustack(3)] = count(); }'
expect "0 end" "$status $(cat "$TMP/own")" "$err"
expect '1 stacks`leaf stacks`down stacks`down 1
3 stacks`leaf stacks`handler libc.so.6`? 1
4 stacks`leaf stacks`thread libc.so.6`? 1
5 stacks`leaf stacks`coroutine libc.so.6`? 3
5 stacks`leaf stacks`coroutine libc.so.6`? 3' "$(names | sed 's/ $//; s/__restore_rt\|__start_context/?/' | grep -v '^[26]' | sort)"
expect 1 "$(names | grep -c '^2 stacks`leaf stacks`compare libc.so.6`')"

# records, at the return as well; all frames; a handler's stack goes on where it was interrupted
inside -q -c "$TMP/stacks" -n 'pid$target:a.out:leaf:entry /arg0 == 1/ { ustack(); } pid$target:a.out:leaf:return /self->three/ { ustack(); self->three = 0; }
	pid$target:a.out:leaf:entry /arg0 == 3/ { self->three = 1; }'
expect_match '^stacks`leaf stacks`down stacks`down stacks`down stacks`down '"$main" "$(names)"
expect_match '^stacks`leaf stacks`handler libc.so.6`.*stacks`interrupted '"$main" "$(names)"

# the variables
inside -q -c "$TMP/stacks" -n 'pid$target:a.out:leaf:entry { @[arg0, ufunc(ucaller), umod(ucaller)] = count(); } pid$target:a.out:leaf:entry /arg0 == 1/ { @d = max(ustackdepth); }
	pid$target:a.out:down:entry /arg0 == 3/ { @e = max(ustackdepth); } END { printa("%d %A %A %@d\n", @); printa("depth %@d ", @d); printa("%@d\n", @e); }'
expect "1 stacks\`down stacks 1
3 stacks\`handler stacks 1" "$(grep '^[13]' <<<"$out")" "$err"
expect 4 "$(awk '/^depth/ { print $2 - $3 }' <<<"$out")" "$out"

# samples
build spinner process/spinner.c -O0 -lpthread
inside -q -c "$TMP/spinner $TMP/stop" -n 'profile-199 { @[ustack(2)] = count(); } profile-199 /++n >= 100/ { exit(0); }'
expect_match '^spinner`inner spinner`outer ' "$(names)"

# without tables: nothing is described, and frame pointers are used
gcc -O1 -fno-asynchronous-unwind-tables -fno-omit-frame-pointer -o "$TMP/bare" "$SRC/test/process/stacks.c" -lpthread || exit 1
inside -q -c "$TMP/bare" -n 'pid$target:a.out:leaf:entry /arg0 == 1/ { ustack(6); }'
expect_match '^bare`leaf bare`down bare`down bare`down bare`down bare`main ' "$(names)"

# the kernel engine says the same
[ "$(id -u)" = 0 ] && "$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' 2>/dev/null || exit 0
for program in 'pid$target:a.out:leaf:entry /arg0 != 6/ { @[ustack()] = count(); @d[ustackdepth] = count(); @c[usym(ucaller)] = count(); }' \
	'pid$target:a.out:leaf:return { ustack(4); }'; do
	engine=process
	inside -q -c "$TMP/stacks" -n "$program"
	ours=$(sed 's/`0x.*/`?/' <<<"$out")
	engine=bpf
	inside -q -c "$TMP/stacks" -n "$program"
	expect "$(sed 's/`0x.*/`?/' <<<"$out")" "$ours" "$program"
done

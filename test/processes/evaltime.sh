# timeout: 300
# Option evaltime: how far a command runs before tracing begins. A system call in each part of the program says
# what is still to come: opening the library, the library's initialiser, the program's own, main.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
gcc -O2 -shared -fPIC -o "$TMP/libpoints.so" "$SRC/test/processes/points-lib.c" || exit 1
lib=(-L"$TMP" -Wl,-rpath,"$TMP" -Wl,--no-as-needed -lpoints -lpthread)
build pie processes/points.c -pie -fPIE "${lib[@]}"
build fixed processes/points.c -no-pie "${lib[@]}"
build stripped processes/points.c -s -pie -fPIE "${lib[@]}"
build now processes/points.c -s -pie -fPIE -Wl,-z,now "${lib[@]}"
build lazy processes/points.c -s -pie -fPIE -Wl,-z,lazy "${lib[@]}"
build static processes/points.c -static 2>/dev/null || rm -f "$TMP/static"
build bare processes/points.c -s -static 2>/dev/null || rm -f "$TMP/bare"
build barepie processes/points.c -s -static-pie 2>/dev/null || rm -f "$TMP/barepie"

cat >"$TMP/parts.d" <<'EOT'
#pragma D option quiet
syscall::openat:entry /pid == $target && strstr(copyinstr(arg1), "libpoints") != NULL/ { open = 1; }
syscall::getppid:entry /pid == $target/ { libinit = 1; }
syscall::getpgid:entry /pid == $target/ { init = 1; }
syscall::getuid:entry /pid == $target/ { main = 1; }
END { printf("%d%d%d%d\n", open, libinit, init, main); }
EOT
parts() { # WANT NAME ARGS...
	[ -x "$TMP/$2" ] || return
	trace -s "$TMP/parts.d" -c "$TMP/$2" "${@:3}"
	expect "0 $1" "$status $(sed -n '/^[01]*$/p' "$TMP/out" | grep .)" "$2 ${*:3}"
	expect "main" "$(head -n 1 "$TMP/out")" "$2 ${*:3}"
	expect "" "$err" "$2 ${*:3}"
}
for p in pie fixed stripped now lazy; do
	parts 1111 $p
	parts 1111 $p -x evaltime=exec
	parts 0111 $p -x evaltime=preinit
	parts 0011 $p -x evaltime=postinit
	parts 0001 $p -x evaltime=main
done
for p in static bare barepie; do
	parts 0011 $p
	parts 0011 $p -x evaltime=preinit
	parts 0011 $p -x evaltime=postinit
	parts 0001 $p -x evaltime=main
done
sed -i '1s/$/\n#pragma D option evaltime=main/' "$TMP/parts.d"
parts 0001 pie

# what initialisers may do meanwhile
init() { # WANT-OUT KIND
	INIT=$2 trace -x evaltime=main -qn 'syscall::getuid:entry /progenyof($target)/ { @ = count(); } END { printa("calls %@d\n", @); }' -c "$TMP/stripped"
	expect "0 $1" "$status $(grep . "$TMP/out" | tr '\n' ';')" "$2"
	expect "" "$err" "$2"
}
init "main;calls 1;" threads
init "main;child is well;main;calls 1;" fork
init "main;calls 1;" exec
init "signal;main;calls 1;" signal
dead() { # KIND WORDS
	INIT=$1 trace -x evaltime=main -n 'BEGIN { exit(0); }' -c "$TMP/stripped"
	expect "1 dtrace: failed to enable 'BEGIN ': pid N $2 before main" "$status $(sed 's/pid [0-9]*/pid N/' "$TMP/err")"
}
dead exit "exited with status 5"
dead crash "terminated by SIGSEGV"

# dtrace dies while the command is on its way to main: it does not hit a breakpoint without a tracer
INIT=pause "$DTRACE" -x engine=vm -x evaltime=main -n 'BEGIN { }' -c "$TMP/stripped" >"$TMP/out" 2>"$TMP/err" </dev/null &
tracer=$!
pausing() { child=$(cat "/proc/$tracer/task/$tracer/children") child=${child%% *}; [ -n "$child" ] && [ "$(readlink "/proc/$child/exe")" = "$TMP/stripped" ] && [ "$(field "$child" State)" = S ]; }
if wait_for 20 pausing; then
	expect "$tracer" "$(field "$child" TracerPid)"
	kill -KILL $tracer
	gone() { [ ! -e "/proc/$child" ] || [ "$(field "$child" State)" = Z ]; }
	wait_for 20 gone
fi
kill -KILL $tracer 2>/dev/null
wait $tracer 2>/dev/null
expect "" "$(cat "$TMP/out")"

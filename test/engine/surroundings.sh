# If something is missing in the environment, dtrace works or says what: few descriptors, no /proc, no /sys.
# needs: root bpf mountns
. "$SRC/test/lib.bash"
# The soft limit of descriptors is raised as far as it may be.
out=$(ulimit -Sn 12; "$DTRACE" -qn 'syscall::exit_group:entry /pid == $target/ { printf("end"); }' -c true 2>"$TMP/err")
expect "end" "$(echo $out)" "$(cat "$TMP/err")"
out=$(ulimit -n 12; "$DTRACE" -qn 'tick-10ms { exit(0); }' 2>&1)
expect_match '^dtrace: could not enable tracing: cannot .* the kernel: Too many open files$' "$out"

without() { # directory; the rest is the command line
	mkdir -p "$TMP/empty"
	unshare -m sh -c 'mount --make-rprivate / && mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$TMP/empty" "$1" \
		env LD_LIBRARY_PATH="$BUILD" "$DTRACE" "${@:2}" 2>&1 </dev/null
}
if ! sanitized; then
	expect "dtrace ok" "$(echo $(without /proc -qn 'BEGIN { printf("%s ok", execname); exit(0); }'))"
	expect "ok" "$(echo $(without /proc -qn 'tick-10ms { printf("ok"); exit(0); }'))"
	expect "dtrace: failed to grab pid 1: /proc is not mounted" "$(without /proc -qn BEGIN -p 1)"
	expect_match '/proc is not mounted$' "$(without /proc -qn 'pid$target::malloc:entry' -c true)"
fi
if unshare -pf true 2>/dev/null; then # /proc tells of other processes than those that have these numbers for us
	expect "dtrace: failed to grab pid 1: /proc is that of another pid namespace" "$(unshare -pf sh -c '"$1" -qn BEGIN -p 1; :' sh "$DTRACE" 2>&1)"
	expect_match '/proc is that of another pid namespace$' "$(unshare -pf "$DTRACE" -qn 'pid$target::malloc:entry' -c true 2>&1)"
	expect "ok" "$(echo $(unshare -pf "$DTRACE" -x evaltime=main -qn 'END { printf("ok"); }' -c true 2>&1))"
fi
expect "dtrace: could not enable tracing: cannot read /sys/devices/system/cpu/possible, the number of CPUs: No such file or directory" \
	"$(without /sys -qn 'tick-10ms { exit(0); }')"

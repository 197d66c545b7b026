# --cgroup and --container: only the processes of a control group, and of those below it.
# needs: root bpf
. "$SRC/test/lib.bash"
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[ -n "$mount" ] || skip "control groups of version 2 are not mounted"
[ "$(stat -c %i "$mount")" = 1 ] || skip "in a cgroup namespace"
id=$(printf '%s' "$TMP" | sha256sum | cut -c 1-64) # a container's id
top=$mount/dtrace-$$
remove() { rmdir "$top/docker-$id.scope/inner" "$top/docker-$id.scope" "$top/web-$$.service" "$top" 2>/dev/null; }
at_end remove
mkdir "$top" "$top/docker-$id.scope" "$top/docker-$id.scope/inner" "$top/web-$$.service" || skip "groups cannot be made here"
# member GROUP N: a process in the group calls getppid() N times
build calls processes/getppid.c

member() { (echo $BASHPID >"$1/cgroup.procs" && exec "$TMP/calls" "$2"); }
# count FLAGS: what is counted while 3 calls are made in the container, 5 below it, 7 in the service, 11 outside
count() {
	cat >"$TMP/load" <<EOT
$(declare -f member)
member "$top/docker-$id.scope" 3
member "$top/docker-$id.scope/inner" 5
member "$top/web-$$.service" 7
"$TMP/calls" 11
EOT
	trace -q "$@" -c "env TMP=$TMP bash $TMP/load" -n 'BEGIN { printf("begin\n"); } syscall::getppid:entry /progenyof($target) && execname == "calls"/ { @ = count(); } END { printa("%@d\n", @); }'
	grep -E '^[0-9]+$' "$TMP/out" || cat "$TMP/out" "$TMP/err"
}
expect 26 "$(count)" "everywhere"
expect 8 "$(count --cgroup "dtrace-$$/docker-$id.scope")" "a group and those below it"
expect 5 "$(count --cgroup "$top/docker-$id.scope/inner")" "by its full path"
expect 15 "$(count --cgroup "/dtrace-$$/")" "a group of groups"
expect 8 "$(count --container "${id:0:12}")" "a container by the beginning of its id"
expect 7 "$(count --container "web-$$")" "a service by its name"
expect_match '^begin' "$(cat "$TMP/out")"
expect 7 "$(count -x container="web-$$.service")" "the same as an option"

# the probes of dtrace itself, however they are named, are of no process
trace -q --container "web-$$" -n 'dtrace::: { printf("%s\n", probename); }  profile:::tick-1 { exit(0); }'
expect "BEGIN END" "$(grep . <<<"$out" | xargs)" "dtrace:::"
trace -q --container "web-$$" -i 1 -n 'tick-1 { exit(0); }'
expect "0 " "$status $err" "a probe by its number"

# the thread of an event that is not the current one: it wakes up from a sleep
cat >"$TMP/load" <<EOT
(echo \$BASHPID >"$top/web-$$.service/cgroup.procs" && exec sleep 0.1)
sleep 0.1
EOT
trace -q --container "web-$$" -c "bash $TMP/load" -n 'sched:::on-cpu /execname == "sleep"/ { @[progenyof($target), cgroupid == cgroupat(2), cgroupat(1) != 0, cgroupat(3)] = count(); }
	END { printa("%d %d %d %d\n", @); }'
expect "1 1 1 0" "$(grep . <<<"$out" | sort -u)" "on-cpu"

mistake() { # message, flags
	local want=$1
	shift
	trace "$@" -n BEGIN
	expect_match "$want" "$err"
	expect 1 "$status"
}
mistake 'there is no control group "nosuch": No such file' --cgroup nosuch
mistake '"\.\./\.\./\.\./etc" is not a control group|there is no control group' --cgroup ../../../etc
mistake 'no container, service or machine is called "nosuch"' --container nosuch
mistake 'exclude each other' --container web --cgroup /
mkdir "$top/web-$$.scope"
mistake "2 control groups are called \"web-$$\"" --container "web-$$"
rmdir "$top/web-$$.scope"

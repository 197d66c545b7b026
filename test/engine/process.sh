# Variables about a process: pids as ps shows them where dtrace runs, time on the CPU.
# needs: root bpf btf gcc
# uses: mountns
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
build load engine/load.c -lpthread
n=$(scale 20000)

# in the namespace we are in, and in one of our own
for where in "" "unshare -pf --mount-proc"; do
	[ -z "$where" ] || ! lacks mountns >/dev/null || continue
	$where "$DTRACE" -q -c "$TMP/load -t 2 -n 100" -n '
		BEGIN { printf("begin %d %d\n", pid == $pid, $target > 0); }
		syscall::getppid:entry /pid == $target/ { @p[ppid == $pid, tid != pid, execname] = count(); }
		syscall::getppid:entry /progenyof($target)/ { @t = count(); }
		syscall::getppid:entry /pid == $target && progenyof($pid)/ { @me = count(); }
		syscall::getppid:entry /pid == $target && progenyof($target + 12345)/ { @not = count(); }
		END { printa("p %d %d %s %@d\n", @p); printa("t %@d\n", @t); printa("me %@d\n", @me); printa("not %@d\n", @not); }' \
		>"$TMP/out" 2>"$TMP/err" </dev/null
	expect 0 $? "$where: $(cat "$TMP/err")"
	expect "begin 1 1
p 1 1 load 200
t 200
me 200" "$(grep . "$TMP/out")" "$where"
done

# vtimestamp: advances while the thread runs, stands still while it does not, never goes backwards
cat >"$TMP/vtime.d" <<'EOT'
self uint64_t last, t, v;
syscall::getppid:entry /pid == $target/ { self->t = timestamp; self->v = vtimestamp; }
syscall::getppid:return /self->t/ { @time["cpu"] = sum(vtimestamp - self->v); @time["clock"] = sum(timestamp - self->t); @moved[vtimestamp > self->v] = count(); self->t = 0; }
syscall::getppid:return /pid == $target && self->last > vtimestamp/ { @back = count(); }
syscall::getppid:return /pid == $target/ { self->last = vtimestamp; }
END { printa("%s %@d\n", @time); printa("back %@d\n", @back); printa("moved %d %@d\n", @moved); }
EOT
ktrace -q -c "$TMP/load -n $n -y" -s "$TMP/vtime.d"
expect 0 "$status"
expect "" "$err"
value() { awk -v k="$1" '$1 == k { print $2 }' "$TMP/out"; }
expect "" "$(value back)" "back"
moved=$(awk '/^moved 1/ { print $3 }' "$TMP/out")
[ "${moved:-0}" -gt $((n / 2)) ] || { echo "vtimestamp stands still"; cat "$TMP/out"; fails=1; }
# (These are two clocks: that of the scheduler is not adjusted to the time of day, and where the host of a virtual machine stops it,
# the two go on at different moments.)
[ "$(value cpu)" -le $(($(value clock) * 3 / 2 + 20000000)) ] || { echo "more time on the CPU than there was"; cat "$TMP/out"; fails=1; }

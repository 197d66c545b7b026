# The variables cgroup, container, containerid and cgroupname, of groups that are made while tracing.
# needs: root bpf btf
. "$SRC/test/lib.bash"
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[ -n "$mount" ] || skip "control groups of version 2 are not mounted"
[ "$(stat -c %i "$mount")" = 1 ] || skip "in a cgroup namespace"
id=$(printf '%s' "$TMP" | sha256sum | cut -c 1-64) # a container's id
me=dtrace-names-$$ top=$mount/dtrace-names-$$
at_end 'find "$top" -depth -type d -exec rmdir {} + 2>/dev/null'
mkdir "$top" 2>/dev/null && rmdir "$top" || skip "groups cannot be made here"
build calls processes/getppid.c
deep=$(printf 'level%02d/' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20) deep=${deep%/}

# group, container, id; the number of calls is that of the line
cat >"$TMP/groups" <<EOT
docker-$id.scope ${id:0:12} $id
docker-$id.scope/inner/more ${id:0:12} $id
libpod-$id.scope/container ${id:0:12} $id
kubepods.slice/kubepods-pod1.slice/cri-containerd-$id.scope ${id:0:12} $id
docker/$id ${id:0:12} $id
lxc.payload.box box -
lxc.payload.box/system.slice/ssh.service box -
machine.slice/machine-vm1.scope vm1 -
machine.slice/machine-vm1.scope/payload vm1 -
system.slice/web.service web -
user.slice/user-1000.slice/user@1000.service/app.slice/term.scope term -
user.slice/user-1000.slice/user@1000.service user@1000 -
plain - -
machine- - -
.service - -
x.service/y x -
$deep - -
EOT
cat >"$TMP/load" <<EOT
n=0
while read -r group rest; do
	n=\$((n + 1))
	mkdir -p "$top/\$group"
	(echo \$BASHPID >"$top/\$group/cgroup.procs" && exec "$TMP/calls" \$n)
done <"$TMP/groups"
EOT
want=$(awk -v top="/$me/" '{ print top $1, $2, $3, NR }' "$TMP/groups" | sort)
trace -x strsize=512 -q -c "bash $TMP/load" -n 'syscall::getppid:entry /progenyof($target) && execname == "calls"/ { @[cgroup, container == "" ? "-" : container, containerid == "" ? "-" : containerid] = count(); }
	END { printa("%s %s %s %@d\n", @); }'
expect "$want" "$(sorted)" "in the kernel"

# predicates, and a name that a script has for itself
trace -q -c "bash $TMP/load" -n 'syscall::getppid:entry /container == "web" && execname == "calls" && progenyof($target)/ { @ = count(); } END { printa("%@d\n", @); }'
expect 10 "$(sorted)" "container == \"web\""
trace -x strsize=512 -q -c "bash $TMP/load" -n 'syscall::getppid:entry /cgroup == "/'"$me/$deep"'"/ { @ = count(); } END { printa("%@d\n", @); }'
expect 17 "$(sorted)" "cgroup == path"
trace -q -n 'int container; BEGIN { container = 5; cgroup = 6; printf("%d %d\n", container, cgroup); exit(0); }'
expect "5 6" "$(sorted)" "own variables"
# a path that is too long is cut
trace -x strsize=40 -q -c "bash $TMP/load" -n 'syscall::getppid:entry /container == "" && execname == "calls" && progenyof($target) && cgroupat(9) != 0/ { @[cgroup] = count(); } END { printa("%s %@d\n", @); }'
expect "$(printf '/%s/%s' "$me" "$deep" | cut -c 1-40) 17" "$(sorted)" "strsize"

# names are kept until the next group: two that take turns on one CPU, one of which is made anew each time
cat >"$TMP/turns" <<EOT
taskset -p -c 0 \$\$ >/dev/null 2>&1
for i in 1 2 3 4 5 6; do
	mkdir -p "$top/again/one\$((i % 2)).service"
	for g in system.slice/web.service again/one\$((i % 2)).service; do
		(echo \$BASHPID >"$top/\$g/cgroup.procs" && exec "$TMP/calls" \$i)
	done
	rmdir "$top/again/one\$((i % 2)).service"
done
EOT
trace -q -c "bash $TMP/turns" -n 'syscall::getppid:entry /execname == "calls" && progenyof($target)/ { @[container, cgroup] = count(); }
	syscall::getppid:entry /execname == "calls" && progenyof($target) && container == "one1"/ { @["only", "one1"] = count(); }
	END { printa("%s %s %@d\n", @); }'
expect "one0 /$me/again/one0.service 12
one1 /$me/again/one1.service 9
only one1 9
web /$me/system.slice/web.service 21" "$(sorted)" "groups that take turns"

# another thread than the current one
cat >"$TMP/load" <<EOT
(echo \$BASHPID >"$top/system.slice/web.service/cgroup.procs" && exec sleep 0.1)
EOT
trace -q -c "bash $TMP/load" -n 'sched:::on-cpu /progenyof($target) && execname == "sleep"/ { @[cgroup, container] = count(); } END { printa("%s %s\n", @); }'
expect "0 /$me/system.slice/web.service web" "$status $(sorted)" "on-cpu: $err"

# the interpreter means the same
while read -r group container id; do
	got=$(echo $BASHPID >"$top/$group/cgroup.procs" && exec "$DTRACE" -x strsize=512 -x engine=vm -qn 'BEGIN { printf("%s %s %s", cgroup, container == "" ? "-" : container, containerid == "" ? "-" : containerid); exit(0); }')
	expect "/$me/$group $container $id" "$got" "vm"
done <"$TMP/groups"

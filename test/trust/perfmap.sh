# timeout: 200
# needs: root nobody bpf gcc
# /tmp/perf-PID.map lies where everyone can make a file: it is believed when it belongs to the user of the process or to
# root; one that is far too large is read in part; a FIFO, a link or a device in its place is left alone.
. ./lib.bash
STACKS='syscall::getppid:entry /pid == $1/ { @[ustack()] = count(); } tick-1s { exit(0); }'
start jit
address=$(head -n 1 "$TMP/start")
map=/tmp/perf-$pid.map
at_end 'rm -f "$map"'
stacks() {
	trace -qn "$STACKS" "$pid"
	cheap "$1"
	expect "$2" "$(grep -o '\[jit\]`.*' "$TMP/out" | sort -u)" "$1"
}

# of the process's user, of root, of another user
echo "$address 10 by_itself" >"$map"
chown nobody "$map"
stacks "its user's" '[jit]`by_itself+'$BACK
chown root "$map"
stacks "root's" '[jit]`by_itself+'$BACK
chown daemon "$map"
stacks "another user's" ''

# not a file
rm -f "$map"
theirs ln -s "$TMP/start" "$map"
stacks "a link" ''
rm -f "$map"
theirs mkfifo "$map"
stacks "a FIFO" ''
rm -f "$map"

# far too large: the beginning counts
theirs "$TMP/hostile" perfmap "$address" >"$map"
chown nobody "$map"
stacks "a large one" '[jit]`early_name+'$BACK

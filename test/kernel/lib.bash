# What the tests of the kernel engine share. Source it: . ./lib.bash
. "$SRC/test/lib.bash"

[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
"$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' 2>"$TMP/err" ||
	{ echo "no BPF here: $(tail -n 1 "$TMP/err")"; exit 77; }
command -v gcc >/dev/null || { echo "needs gcc"; exit 77; }
ulimit -c 0

# program NAME [LIBRARIES]: build test/kernel/NAME.c; the program is $TMP/NAME
program() {
	gcc -O2 -Wall -Wextra -o "$TMP/$1" "$SRC/test/kernel/$1.c" "${@:2}" || { echo "cannot build $1"; exit 1; }
}

# ktrace ARGS: dtrace on the kernel engine; output in $out, messages in $err, status in $status.
ktrace() {
	timeout 100 "$DTRACE" -x engine=bpf "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out"; echo .) out=${out%.}
	err=$(cat "$TMP/err")
}

# lost WORDS: how many, added up over all messages: lost "drops? on CPU"
lost() {
	sed -nE "s/^dtrace: ([0-9]+) $1.*/\\1/p" "$TMP/err" | awk '{ n += $1 } END { print n + 0 }'
}
# lines PATTERN: how many lines of output match
lines() { grep -cE -- "$1" "$TMP/out"; }
# total PATTERN: sum of the last fields of the lines that match
total() { awk -v p="$1" '$0 ~ p { n += $NF } END { print n + 0 }' "$TMP/out"; }

# wait_for SECONDS COMMAND: until it succeeds
wait_for() {
	local n=$(($1 * 20))
	shift
	while ! "$@"; do
		[ $((n--)) -gt 0 ] || return 1
		sleep 0.05
	done
}

# Slower machines (emulated guests) do less.
scale() { echo $(($1 / ${SLOW:-1})); }

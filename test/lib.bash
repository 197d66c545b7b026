# What shell tests share. Source it: . "$SRC/test/lib.bash"
set -u
fails=0
failed=$TMP/.failed # a subshell (behind a pipe) cannot count for us
trap '[ $fails = 0 ] && [ ! -e "$failed" ] || exit 1' EXIT
count_failure() {
	fails=$((fails + 1))
	: >"$failed"
}

# expect WANT GOT [WHAT]: equal, or a failure with a diff.
expect() {
	[ "$1" = "$2" ] && return
	count_failure
	echo "${3-}${3:+: }unexpected:"
	diff -u --label want --label got <(printf '%s\n' "$1") <(printf '%s\n' "$2")
}
# expect_match PATTERN TEXT: an extended regular expression somewhere in it.
expect_match() {
	grep -qE -- "$1" <<<"$2" && return
	count_failure
	echo "no match for: $1"
	printf 'in: %s\n' "$2"
}
# Skip the test unless root can become nobody and nobody can run dtrace where it is (not below /root).
need_nobody() {
	[ "$(id -u)" = 0 ] || { echo "needs root to become nobody"; exit 77; }
	command -v setpriv >/dev/null || { echo "needs setpriv"; exit 77; }
	setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" -V >/dev/null 2>&1 ||
		{ echo "user nobody cannot run $DTRACE"; exit 77; }
}
# dt ARGS: dtrace on the vm engine; output in $out, messages in $err, status in $status.
dt() {
	"$DTRACE" -x engine=vm "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out"; echo .) out=${out%.}
	err=$(cat "$TMP/err")
}

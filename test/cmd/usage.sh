# Usage errors: usage on stderr, status 2.
. "$SRC/test/lib.bash"
usage() { # expected message, arguments
	local want=$1
	shift
	"$DTRACE" "$@" >"$TMP/out" 2>"$TMP/err"
	expect 2 $? "status of $*"
	expect "" "$(cat "$TMP/out")" "output of $*"
	[ -z "$want" ] || expect "dtrace: $want" "$(head -n 1 "$TMP/err")"
	expect_match '^Usage: dtrace' "$(cat "$TMP/err")"
}
# without arguments: what to type first
"$DTRACE" >"$TMP/out" 2>"$TMP/err"
expect 2 $? "status without arguments"
expect "" "$(cat "$TMP/out")"
expect_match "dtrace -n 'syscall:::entry" "$(cat "$TMP/err")"
usage "illegal option -- y" -y
usage "illegal option --nosuch" --nosuch
usage "option requires an argument -- n" -n
usage "option requires an argument -- libxo" --libxo
usage "option takes no argument -- options" --options=all
usage "only one of the [-AGhlV] options can be specified" -l -V
usage "only one of the [-AGhlV] options can be specified" -lG -n BEGIN
usage "-B not valid in combination with [-AGlo] options" -Bl
usage "-h requires one or more scripts (-s)" -h
usage "-h takes programs from files only (-s)" -h -n BEGIN

# --options: every option and what it does
expect "$(grep -c '^DT_OPTION(' "$SRC/src/base/options.def")" "$("$DTRACE" --options | grep -cE '^[a-z]+ +[^ ]')" "lines of --options"
expect "$("$DTRACE" -V)" "$("$DTRACE" --version)"

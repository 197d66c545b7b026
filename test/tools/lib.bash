# What the tests of the tools share, after test/lib.bash.
#
#   tool NAME [ARGS] -- LOAD       run a tool by its name with the load (load.c) or a command of -c; it must succeed and say nothing
#                                  (with excused=REGEX before it: nothing but lines that match)
#   rows PATTERN                   how many lines of its output match, blanks squeezed
#   sum FIELD PATTERN              sum of a field of these lines
#   samples                        sum of the counts of all distributions printed
name=dtool$$ # processes of other tests have other names
build "$name" tools/load.c -lpthread

tool() {
	local args=() t=$1
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do args+=("$1"); shift; done
	shift
	case $1 in /*) ;; *) set -- "$TMP/$name" "$@" ;; esac
	run_dtrace timeout 300 "$DTRACE" -s "$t" "${args[@]}" -c "$*"
	[ -z "${excused-}" ] || err=$(grep -vxE -- "$excused" <<<"$err")
	expect "0 " "$status $err" "$t"
	what=$t
}
squeezed() { tr -s ' ' <"$TMP/out" | sed 's/^ //; s/ $//'; }
rows() { squeezed | grep -cE -- "$1"; }
sum() { squeezed | grep -E -- "$2" | awk -v f="$1" '{ n += $f } END { print n + 0 }'; }
samples() { awk '/\|/ && $NF ~ /^[0-9]+$/ { n += $NF } END { print n + 0 }' "$TMP/out"; }
want() { # NUMBER, what was counted, how
	expect "$1" "$2" "$what${3:+, $3}: $(head -n 30 "$TMP/out")"
}

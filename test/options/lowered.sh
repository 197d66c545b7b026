# Sizes and rates that are not available are lowered, with a message even in quiet mode; with bufresize=manual
# a size is refused.
. "$SRC/test/lib.bash"
says() { # option, what is said
	dt -q -x "$1" -n 'BEGIN { a[1] = 1; @[1] = count(); trace(1); exit(0); }'
	expect_match "^$2\$" "$err" "$1"
	expect "1 1 1" "$(echo $out)" "$1"
}
says bufsize=1000t 'dtrace: buffer size lowered to [0-9]+[kmg]'
says aggsize=1000t 'dtrace: aggregation size lowered to [0-9]+[kmg]'
says specsize=1000t 'dtrace: speculation size lowered to [0-9]+[kmg]'
says dynvarsize=1000t 'dtrace: dynamic variable size lowered to [0-9]+[kmg]'
says cleanrate=1ns 'dtrace: cleaning rate reduced to 5000 hz'
says cleanrate=1d 'dtrace: cleaning rate increased to once every 60 seconds'
says statusrate=1d 'dtrace: status rate increased to once every 10 seconds'
says cleanrate=300us ''
says bufsize=64m ''

for o in bufsize aggsize specsize dynvarsize; do
	dt -q -x $o=1000t -x bufresize=manual -n 'BEGIN { exit(0); }'
	expect "dtrace: could not enable tracing: $o does not fit in this machine's memory" "$err"
	expect 1 "$status"
done
dt -q -x cpu=4000 -n 'BEGIN { exit(0); }'
expect_match '^dtrace: could not enable tracing: -x cpu=4000: this machine has CPUs 0 to [0-9]+$' "$err"
dt -q -x nspec=2000000 -n 'BEGIN { exit(0); }'
expect 'dtrace: failed to set -x nspec=2000000: "2000000" is out of range for option "nspec"' "$err"
dt -q -x aggsize=8 -n 'BEGIN { @["one row always fits"] = count(); exit(0); }'
expect "one row always fits 1" "$(echo $out)"
expect "" "$err"

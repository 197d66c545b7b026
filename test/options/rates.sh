# The rates have no effect on the vm engine.
. "$SRC/test/lib.bash"
for o in cleanrate=1s statusrate=2s aggrate=0 switchrate=0 cpu=0 temporal=no bufresize=manual aggpercpu evaltime=main; do
	dt -q -x $o -n 'BEGIN { trace(1); @ = count(); exit(0); }'
	expect "1 1 " "$(echo $out) $err" "$o"
done

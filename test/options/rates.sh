# cleanrate is kept between 200 us and 60 s, statusrate at 10 s at most; the rates change nothing on the vm engine.
. "$SRC/test/lib.bash"
for o in cleanrate=1ns cleanrate=1d statusrate=1d aggrate=0 switchrate=0 cpu=0 temporal=no bufresize=manual aggpercpu evaltime=main; do
	dt -q -x $o -n 'BEGIN { trace(1); @ = count(); exit(0); }'
	expect "1 1 " "$(echo $out) $err" "$o"
done

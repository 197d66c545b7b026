# chill(): time passes, also in timestamp; at most 500 ms in a second.
. "$SRC/test/lib.bash"
dt -qw -n 'BEGIN { x = timestamp; chill(2000000); printf("%d\n", timestamp - x >= 2000000); exit(0); }'
expect 1 "$(echo $out)"
dt -qw -n 'BEGIN { chill(300000000); } BEGIN { chill(300000000); } BEGIN { exit(0); }'
expect "dtrace: error on enabled probe ID 2 (ID 1: dtrace:::BEGIN): illegal operation in action #1" "$err"

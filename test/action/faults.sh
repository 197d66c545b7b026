# Each fault of the interpreter: the message, the arguments of ERROR, and that the other clauses run.
. "$SRC/test/lib.bash"
fault() { # statement, message, action, offset, code, place and reason
	dt -qw -x strsize=16 -n 'BEGIN { zero = 0; s = "0123456789"; } BEGIN { '"$1"'; } BEGIN { printf("next\n"); exit(0); }
ERROR { printf("epid %d action %d offset %d fault %d\n", arg1, arg2, arg3, arg4); }'
	expect "dtrace: error on enabled probe ID 2 (ID 1: dtrace:::BEGIN): $2${6:+
dtrace: line 1: $6}" "$(sed 's/0x[0-9a-f]\{6,\}/ADDR/' <<<"$err")" "$1"
	expect "epid 2 action $3 offset $4 fault $5 next" "$(echo $out)" "$1"
	expect 0 "$status"
}
fault 'trace(*(int *)16)' 'invalid address (0x10) in action #1 at DIF offset 4' 1 4 1 '*(int *)16: address 0x10 is not mapped'
fault 'trace(1); trace(*(int *)16)' 'invalid address (0x10) in action #2 at DIF offset 4' 2 4 1 '*(int *)16: address 0x10 is not mapped'
fault '*(int *)16 = 1' 'invalid address (0x10) in action #1 at DIF offset 8' 1 8 1 '*(int *)16 = 1: address 0x10 is not in what alloca() has returned, and only that can be written'
fault 'this->p = (char *)alloca(16); *(int *)(this->p + 1) = 5' 'invalid alignment (ADDR) in action #2 at DIF offset 16' 2 16 2 '*(int *)(this->p + 1) = 5: address ADDR is not a multiple of the size'
fault 'trace(lltostr(1, 99))' 'illegal operation in action #1 at DIF offset 20' 1 20 3 'lltostr(1, 99): an argument has a value that is not allowed'
fault 'commit(99)' 'illegal operation in action #1' 1 -1 3 'commit(99): this value is not allowed'
fault 'discard(99)' 'illegal operation in action #1' 1 -1 3 'discard(99): this value is not allowed'
fault 'chill(600000000)' 'illegal operation in action #1' 1 -1 3 ''
fault 'trace(5 / zero)' 'divide-by-zero in action #1 at DIF offset 8' 1 8 4 '5 / zero: division by zero'
fault 'trace(5 % zero)' 'divide-by-zero in action #1 at DIF offset 8' 1 8 4 '5 % zero: division by zero'
fault 'alloca(100000000)' 'out of scratch space in action #1 at DIF offset 12' 1 12 5 'alloca(100000000): the result does not fit: see options strsize and scratchsize'
fault 'trace(strjoin(s, s))' 'out of scratch space in action #1 at DIF offset 16' 1 16 5 'strjoin(s, s): the result does not fit: see options strsize and scratchsize'
# a predicate is action 0
dt -q -n 'BEGIN { zero = 0; } BEGIN /5 % zero == 1/ { trace("no"); } BEGIN { exit(0); } ERROR { printf("%d %d %d %d\n", arg1, arg2, arg3, arg4); }'
expect "dtrace: error on enabled probe ID 2 (ID 1: dtrace:::BEGIN): divide-by-zero in predicate at DIF offset 8
dtrace: 5 % zero: division by zero" "$err"
expect "2 0 8 4" "$(echo $out)"

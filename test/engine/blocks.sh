# if and loops print the same on both engines where buffers, speculations and limits matter.
# needs: root bpf
. "$SRC/test/lib.bash"
any_cpu() { sed -E 's/on CPU [0-9]+/on CPU/; s/^ *[0-9]+( +1 +:BEGIN| \| :BEGIN)/CPU\1/' <<<"$1"; }
same() { # ARGS: on both
	dt "$@"
	local o=$out e=$err s=$status
	ktrace "$@"
	expect "$(any_cpu "$o")" "$(any_cpu "$out")" "output of $*"
	expect "$(any_cpu "$e")" "$(any_cpu "$err")" "messages of $*"
	expect "$s" "$status" "status of $*"
}
count='for (this->i = 0; this->i < 10; this->i++) printf("%d\n", this->i);'

# one line for a firing, whatever blocks it went through
same -x quiet=no -n 'BEGIN { trace(1); if (1) { trace(2); } else { trace(3); } if (!pid) trace(4); trace(5); exit(0); }'
expect_match 'BEGIN +1 +2 +5$' "$out"
expect_match 'matched 1 probe' "$err"
same -F -n 'BEGIN { for (this->i = 0; this->i < 3; this->i++) trace(this->i); exit(0); }'
expect_match 'BEGIN +0 +1 +2$' "$out"

# each part takes space of its own
same -qx bufsize=64 -n "BEGIN { $count exit(0); }"
expect "0 1 2 3" "$(echo $out)"
expect 7 "$(lost 'drops? on CPU')"
same -qx bufsize=64 -x bufpolicy=fill -n "BEGIN { $count exit(0); }"
expect "0 1 2 3" "$(echo $out)"
same -qx bufsize=64 -x bufpolicy=ring -n "BEGIN { $count exit(0); }"
expect "7 8 9" "$(echo $out)"

# speculate() holds to the end of its braces
same -qn 'BEGIN { this->s = speculation(); if (1) { speculate(this->s); printf("in "); if (1) printf("deep "); }
	printf("out "); if (1) { commit(this->s); } printf("end\n"); exit(0); }'
expect "out in deep end" "$(echo $out)"
same -qn 'BEGIN { if (1) { speculate(0); printf("in "); } printf("out\n"); exit(0); }'
expect "out" "$(echo $out)"
same -qn 'BEGIN { for (this->i = 0; this->i < 4; this->i++) { this->s = speculation();
	if (this->s) { speculate(this->s); printf("%d ", this->i); } if (this->i % 2) commit(this->s); else discard(this->s); } exit(0); }'
expect "1 3" "$(echo $out)"

# exit() ends the clause after its block
same -qn 'BEGIN { if (1) { exit(3); printf("yes\n"); } printf("no\n"); } BEGIN { printf("no\n"); }'
expect yes "$(echo $out)"
expect 3 "$status"
same -qn 'BEGIN { for (;;) { if (this->n++ == 5) exit(4); } }'
expect 4 "$status"

# what was recorded before a fault stays, block by block; a condition and a loop can fault as well
same -qn 'BEGIN { printf("a "); if (1) { printf("b "); trace(*(int *)8); } printf("c "); } BEGIN { exit(0); }'
expect a "$(echo $out)"
same -qn 'BEGIN { printf("a "); while (*(int *)8) { } printf("c "); } BEGIN { exit(0); }'
expect a "$(echo $out)"
same -qn 'BEGIN { for (this->i = 0; ; this->i++) printf("%d ", 4 / (2 - this->i)); } ERROR { exit(0); }'
expect "2 4" "$(echo $out)"

# a million rounds; nested loops count all their rounds
same -qx loopmax=1000000 -n 'BEGIN { for (this->i = 0; this->i < 1000000; this->i++) @ = sum(this->i); exit(0); }'
expect 499999500000 "$(echo $out)"
same -qn 'BEGIN { for (;;) for (;;) n++; } BEGIN { printf("%d\n", n); exit(0); }'
expect 1000 "$(echo $out)"
expect_match 'more rounds of a loop than loopmax in action #2' "$err"
same -qx loopmax=1000000 -n 'BEGIN { n = 0; while (n < 900000) { m = 0; while (m++ < 3) n++; } printf("%d\n", n); exit(0); }'
expect 900000 "$(echo $out)"

# deep nesting; bodies with many paths; a condition with more branches than are kept in registers
deep=$(for i in {1..40}; do printf 'for (this->i%d = 0; this->i%d < 1 + (%d > 36); this->i%d++) ' $i $i $i $i; done)
same -qn "BEGIN { this->n = 0; $deep this->n++; printf(\"%d\\n\", this->n); exit(0); }"
expect 16 "$(echo $out)"
many=$(for i in {1..200}; do printf 'if ((this->i * %d + this->j & 3) == %d) this->n += %d; else this->n ^= %d; ' $((i + 2)) $((i % 4)) $i $i; done)
same -qn "BEGIN { this->n = 0; for (this->i = 0; this->i < 9; this->i++) for (this->j = 0; this->j < 9; this->j++) { $many }
	printf(\"%d\\n\", this->n); exit(0); }"
expect_match '^[0-9]+$' "$(echo $out)"
bits=$(for i in {0..40}; do printf '(this->a > %d) << %d | ' $i $i; done)
same -qn "BEGIN { this->a = 5LL; this->n = 0; while (($bits 0) == 31) { this->a++; this->n++; } printf(\"%d\\n\", this->n); exit(0); }"
expect 1 "$(echo $out)"

# other probes, arguments, stacks, strings from processes, thread and array variables in loops
trace -qx strsize=64 -c 'echo word' -n 'syscall::write:entry /pid == $target/ {
	for (self->i = 0; self->i < arg2; self->i++) {
		this->c = *(char *)copyin(arg1 + self->i, 1);
		if (this->c == 10)
			break;
		seen[this->c] = self->i + 1;
		switch (this->c) { case 119: @[probefunc, "w"] = count(); break; default: @[probefunc, "other"] = count(); }
	}
	printf("%d %d %s\n", seen[119], seen[100], copyinstr(arg1, 4)); }'
expect_match '^1 4 word$' "$out"
expect_match 'write +w +1$' "$out"
expect_match 'write +other +3$' "$out"

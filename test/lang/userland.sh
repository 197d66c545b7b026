# userland pointers: loads from user memory, distinct from kernel pointers.
. "$SRC/test/lib.bash"
listing() { dt -eSn "struct s { int a; char name[8]; }; $1" && printf '%s\n' "$err"; }
expect_match 'uldsw ' "$(listing 'BEGIN { trace(*(userland int *)arg0); }')"
expect_match 'uldub ' "$(listing 'BEGIN { trace(((userland unsigned char *)arg0)[3]); }')"
expect_match 'uldsw ' "$(listing 'BEGIN { trace(((userland struct s *)arg0)->a); }')"
expect_match 'copyinstr' "$(listing 'BEGIN { trace(stringof((userland char *)arg0)); }')"
expect_match 'copyinstr' "$(listing 'BEGIN /((userland struct s *)arg0)->name == "x"/ { }')"
expect_match 'by user ref' "$(listing 'BEGIN { trace(((userland struct s *)arg0)->name); }')"
expect_match 'uldx ' "$(listing 'userland char *userland *pp; BEGIN { trace(*pp); }')"
tag() {
	dt -x errtags -en "userland int *u; int *k; $2"
	expect_match "\\[$1\\] " "$err"
}
tag D_OP_INCOMPAT 'BEGIN { k = u; }'
tag D_OP_INCOMPAT 'BEGIN { trace(k == u); }'
tag D_OP_INCOMPAT 'BEGIN { trace(pid ? k : u); }'
tag D_OP_WRITE 'BEGIN { *u = 1; }'
tag D_OP_WRITE 'BEGIN { u[1]++; }'
dt -qn 'userland int *u; int *k; BEGIN { u = 0; k = (int *)u; printf("%d %d\n", u == NULL, k == 0); exit(0); }'
expect "1 1" "$(echo $out)"
# what a program can read of its own memory
dt -qn 'BEGIN { trace(*(userland int *)8); }
	ERROR { printf("fault at %x\n", arg5); exit(0); }'
expect "fault at 8" "$(echo $out)"

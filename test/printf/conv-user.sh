# %A: a user address; plain numbers only when there is a target process.
. "$SRC/test/lib.bash"
dt -qn 'BEGIN { @[usym(0x40)] = count(); printa("[%A] %@d\n", @); exit(0); }'
expect "[0x40] 1" "$(head -n 1 <<<"$out")"
dt -q -c true -n 'BEGIN { printf("[%A] [%8A]\n", 0x40, 0x50); exit(0); }'
expect "[0x40] [    0x50]" "$(head -n 1 <<<"$out")"
dt -x errtags -qn 'BEGIN { printf("%A", 0x40); }'
expect_match 'D_PRINTF_ARG_TYPE.*%A takes the result of usym\(\), or with -p or -c a pointer or integer' "$err"

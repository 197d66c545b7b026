# A kernel symbol that BTF does not describe: its address can be taken once it is declared.
# needs: kallsyms
. "$SRC/test/lib.bash"
dt -x errtags -n 'BEGIN
{ trace(`_stext); }'
expect_match '\[D_SYM_NOTYPES\] line 2: ' "$err"
dt -qn 'extern char _stext; BEGIN { printf("%x\n", (uint64_t)&`_stext); exit(0); }'
expect "$(sed -nE 's/ . _stext$//p' /proc/kallsyms | head -1)" "$(echo $out)"

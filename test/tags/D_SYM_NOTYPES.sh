# A kernel symbol that BTF does not describe: its address can be taken once it is declared.
. "$SRC/test/lib.bash"
grep -qE '^0*[1-9a-f][0-9a-f]* . _stext$' /proc/kallsyms || exit 77
dt -x errtags -n 'BEGIN
{ trace(`_stext); }'
expect_match '\[D_SYM_NOTYPES\] line 2: ' "$err"
dt -qn 'extern char _stext; BEGIN { printf("%x\n", (uint64_t)&`_stext); exit(0); }'
expect "$(sed -nE 's/ . _stext$//p' /proc/kallsyms | head -1)" "$(echo $out)"

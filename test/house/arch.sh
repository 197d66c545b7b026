# What is specific to one CPU is in src/arch and lib/<cpu>, so that another CPU is a folder and not a search.
# Comments may name a CPU as an example; code may not.
. "$SRC/test/lib.bash"

# Code without comments, each line with its place.
code() { # FILE...
	awk 'FNR == 1 { inside = 0 }
		{
			line = $0; out = ""
			while (line != "") {
				if (inside) {
					if (!(at = index(line, "*/"))) break
					line = substr(line, at + 2); inside = 0
				} else if ((at = index(line, "/*"))) {
					out = out substr(line, 1, at - 1)
					line = substr(line, at + 2); inside = 1
				} else { out = out line; break }
			}
			sub("//.*", "", out)
			if (out != "") print FILENAME ":" FNR ": " out
		}' "$@"
}

# none WHAT PATTERN: no line of code.txt has it
none() {
	expect "" "$(grep -E "^[^ ]*: .*($2)" "$TMP/code.txt")" "$1 outside src/arch"
}

fail() {
	count_failure
	echo "$1"
}

cd "$SRC" || exit 1
mapfile -t files < <(find src cmd include -name '*.[ch]' -o -name '*.def' | grep -v '^src/arch/' | sort)
code "${files[@]}" lib/*.d >"$TMP/code.txt"
[ "$(wc -l <"$TMP/code.txt")" -gt 20000 ] || fail "only $(wc -l <"$TMP/code.txt") lines of code were found"

none "a macro of a CPU" '__(x86_64|amd64|i386|aarch64|arm|riscv|s390x?|powerpc(64)?)(__)?\b'
none "the name of a CPU" '\b(x86|x86[-_]64|amd64|AMD64|i[36]86|ia32|IA32|i387|aarch64|arm64)\b|cpuinfo_x86|x86_'
none "a machine of ELF" '\bEM_(386|X86_64|AARCH64|ARM|RISCV)\b|\bR_(X86_64|386|AARCH64)_'
none "a register" '\b[re](ax|bx|cx|dx|si|di|bp|sp|ip|flags)\b|\borig_[re]?ax\b|\b(RIP|RSP|RBP|RAX|RDI|RSI)\b'
none "a register" '%%?r(8|9|1[0-5])\b|"r(8|9|1[0-5])[dwb]?"|\bx(29|30)\b'
none "an index of uregs[]" 'uregs\[[0-9]'
none "an instruction" '\b(endbr(32|64)?|int3|INT3|syscall_insn|sysenter)\b|\b(0xcc|0xe8|0xe9|0xc3|0xcf|0x0f0b|0xfa1e0ff3)\b|0x0f, 0x1f|0x66, 0x90'
none "a decoder" 'Zydis|ZYDIS'
none "registers of a stopped thread" 'sys/user\.h|user_regs_struct|PTRACE_[GS]ETREGS'
none "a flag of the kernel for one CPU" 'TS_COMPAT|TIF_|__USER_CS|thread_info\.(status|flags)'

# In a header that dtrace -h writes it is text.
sed -i 's/".*__asm__.*"//' "$TMP/code.txt"
none "inline assembly" '\b(asm|__asm|__asm__)( +(volatile|__volatile__))? *\('

# In src/arch, tests of the CPU by the preprocessor are where the host is chosen, nowhere else.
expect "src/arch/arch.c
src/arch/dtext.h" "$(grep -lrE '^#.*__(x86_64|aarch64)__' src/arch | sort)" "where the host is chosen"

# Folders of CPUs have files of equal names, and a D library each.
for cpu in src/arch/*/; do
	cpu=$(basename "$cpu")
	for f in arch.c abi.c insn.c operand.c syscalls.c syscalls.def host_trap.c host_site.c dtext.h; do
		[ -f "src/arch/$cpu/$f" ] || fail "src/arch/$cpu has no $f"
	done
	for f in regs.d cpu.d; do
		[ -f "lib/$cpu/$f" ] || fail "lib/$cpu has no $f"
	done
done

# doc/porting.md names every member of the structs that a CPU fills in.
members() {
	code src/arch/{arch,insn,abi,syscalls}.h | sed 's/^[^ ]*: //' | awk '
		/^(typedef )?struct dt_arch(_[a-z]+)? \{/ { inside = 1; next }
		/^}/ { inside = 0 }
		!inside { next }
		match($0, /\(\*[a-z_]+\)\(/) { print substr($0, RSTART + 2, RLENGTH - 4); next }
		/^\t[^\t}].*;[ \t]*$/ {
			gsub(/\[[^]]*\]|[*;}]/, "")
			sub(/^[ \t]*(const )?(struct )?[a-z_0-9]+ /, "")
			gsub(/const|[ \t]/, "")
			gsub(",", "\n")
			print
		}'
}
[ "$(members | wc -l)" -gt 80 ] || fail "only $(members | wc -l) members were found"
for member in $(members | sort -u); do
	grep -qE "\`$member\`|^### $member\b|^## struct dt_arch_$member\b" doc/porting.md || fail "doc/porting.md does not name $member"
done

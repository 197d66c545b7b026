# The dtmalloc provider: memory of known types, and all of it against the tracepoints of the allocator.
# timeout: 200
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
watch dtmalloc
n=$(scale 500)
cat >"$TMP/open.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	syscall(SYS_getppid);
	for (int i = 0; i < n; i++)
		close(open("/dev/null", O_RDONLY));
	syscall(SYS_getpgid, 0);
	return 0;
}
C
gcc -O1 -o "$TMP/open" "$TMP/open.c" || exit 1

# ---- a struct file for each open(): by name, and among all ----
ktrace -q -c "$TMP/open $n" -n '
	syscall::getppid:return /pid == $target/ { self->on = 1; } syscall::getpgid:entry { self->on = 0; }
	dtmalloc::filp:malloc /self->on/ { @["filp"] = sum(1); @["wrong"] = sum(args[0]->ks_shortdesc != "filp" || args[3] != args[0]->ks_size || args[3] < 100 || probefunc != "filp"); }
	dtmalloc:::malloc /self->on && args[0]->ks_shortdesc == "filp"/ { @["all"] = sum(1); }
	dtmalloc:::malloc /self->on/ { @["sdt"] = sum(-1); @["kmalloc"] = sum(!arg0); @["bytes"] = sum(arg3); }
	dtmalloc::kmalloc:malloc /self->on/ { @["kmalloc"] = sum(-1); @["same"] = sum(args[0]->ks_shortdesc != "kmalloc"); }
	sdt:::kmalloc /self->on/ { @["sdt"] = sum(1); @["bytes"] = sum(-(int64_t)args[2]); }
	sdt:::kmem_cache_alloc /self->on/ { @["sdt"] = sum(1); @["bytes"] = sum(-(int64_t)args[2]->object_size); }
	END { printa("%s %@d\n", @); }'
expect 0 "$status" "$err"
expect "" "$err"
expect "$n" "$(value filp)" filp
expect "$n" "$(value all)" "filp, among all"
for k in wrong sdt kmalloc same bytes; do expect 0 "$(value $k)" "$k"; done

# ---- freed, maybe later and by others ----
ktrace -q -c "$TMP/open $n" -n '
	dtmalloc:::free { @["sdt"] = sum(-1); } sdt:::kfree,sdt:::kmem_cache_free /arg1/ { @["sdt"] = sum(1); }
	dtmalloc::kmalloc:free { @["kfree"] = sum(-1); } sdt:::kfree /arg1/ { @["kfree"] = sum(1); @["kfrees"] = sum(1); }
	dtmalloc::filp:free { @["filp"] = sum(1); }
	dtmalloc:::free /args[1] == 0 || args[2] == 0/ { @["null"] = sum(1); }
	END { printa("%s %@d\n", @); }'
expect 0 "$status" "$err"
drops=$(lost "drops? on CPU") # memory freed inside such a probe
for k in sdt kfree; do
	[ "$(value $k)" -le "$drops" ] && [ "$(value $k)" -ge "-$drops" ] || { echo "$k: $(value $k) more, $drops drops"; count_failure; }
done
expect 0 "$(value null)" null
[ "$(value filp)" -ge 1 ] && [ "$(value kfrees)" -ge 1 ] || { echo "nothing freed"; cat "$TMP/out"; count_failure; }

# ---- a piece that is allocated is the one that is freed ----
ktrace -q -c "$TMP/open $n" -n '
	int live[uintptr_t];
	dtmalloc::filp:malloc /pid == $target/ { live[arg1] = 1; }
	dtmalloc::filp:free /live[arg1]/ { live[arg1] = 0; @ = count(); }
	END { printa("n %@d\n", @); }'
[ "$(value n)" -ge 1 ] || { echo "none comes back"; cat "$TMP/out" "$TMP/err"; count_failure; }

# ---- names ----
expect "free malloc" "$("$DTRACE" -ln 'dtmalloc::filp:' | awk 'NR > 1 { print $NF }' | sort | xargs)" "filp"
expect "free malloc" "$("$DTRACE" -lP dtmalloc | awk 'NR > 1 { print $NF }' | sort | xargs)" "all types"
[ "$("$DTRACE" -ln 'dtmalloc::*:malloc' | wc -l)" -gt 20 ] || { echo "too few types"; count_failure; }
expect "" "$("$DTRACE" -ln 'dtmalloc::*:malloc' | awk '{ print $1 }' | sort | uniq -d)" "ids"
expect "$("$DTRACE" -ln 'dtmalloc::filp:malloc' | awk 'NR > 1 { print $1 }')" "$("$DTRACE" -ln 'dtmalloc::*:malloc' | awk '$4 == "filp" { print $1 }')" "the same id"
"$DTRACE" -n 'dtmalloc::no_such_cache:malloc { exit(0); }' 2>"$TMP/err" && count_failure
expect_match 'this kernel has no cache "no_such_cache"' "$(cat "$TMP/err")"
fields 'dtmalloc::filp:malloc /pid == $target/' -c "$TMP/open 5" <<'T'
= malloc_type_t args[0]
ks_shortdesc % == "filp"
ks_size % == args[3] && % > 100
ks_addr % == arg0 && % != 0
T

fired

# timeout: 300
# The pid provider on a program whose calls are known: entries, returns of every form, offsets, arguments.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build pid processes/pid.c -g -pthread
n=20

# counts WANT D: the aggregation of the script, one line per key, sorted
counts() {
	trace -qn "$2" -c "$TMP/pid ${what:-calls} $n"
	expect "$1" "$(echo "$out" | awk 'NF { $1 = $1; print }' | sort)" "$2: $err"
}

# every function is entered and left as often as it is called, with aliases as one
counts "add entry 94
add return 94
branch entry 20
branch return 20
choose entry 20
choose return 20
maybe entry 20
maybe return 20
middle entry 20
middle return 20
tail entry 20
tail return 20
ten entry 20
ten return 20
typed entry 20
typed return 20
ways entry 20
ways return 20" 'pid$target:a.out:add:entry, pid$target:a.out:add:return,
	pid$target:a.out:branch:entry, pid$target:a.out:branch:return,
	pid$target:a.out:choose:entry, pid$target:a.out:choose:return,
	pid$target:a.out:maybe:entry, pid$target:a.out:maybe:return,
	pid$target:a.out:middle:entry, pid$target:a.out:middle:return,
	pid$target:a.out:tail:entry, pid$target:a.out:tail:return,
	pid$target:a.out:t[ey]*:entry, pid$target:a.out:t[ey]*:return,
	pid$target:a.out:ways:entry, pid$target:a.out:ways:return { @[probefunc, probename] = count(); }'

# deeper than uretprobes can follow
what=deep n=3 counts "entry 300
return 300" 'pid$target:a.out:deep:entry, pid$target:a.out:deep:return { @[probename] = count(); }'

# the same by the kernel's trampolines: cheaper; a tail call returns when the other function does
for f in add branch choose maybe middle tail ten; do
	trace -x uretprobe -qn 'pid$target:a.out:'$f':return { @ = count(); }' -c "$TMP/pid calls 20"
	expect $([ $f = add ] && echo 94 || echo 20) "$(echo "$out" | awk 'NF { print $1 }')" "$f by a trampoline: $err"
done
trace -x uretprobe -qn 'pid$target:a.out:tail:return { @[arg1] = count(); }' -c "$TMP/pid calls 2"
expect "7 8" "$(echo "$out" | awk 'NF { print $1 }' | xargs)" "$err"

# arguments, in registers and on the stack; the value that is returned
trace -qn 'pid$target:a.out:ten:entry { printf("%d %d %d %d %d %d %d %d %d %d\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9); }
	pid$target:a.out:ten:return { printf("= %d\n", arg1); }
	pid$target:a.out:maybe:entry { printf("maybe %d\n", arg0); }
	pid$target:a.out:maybe:return { printf("= %d\n", arg1); }' -c "$TMP/pid calls 7"
expect "1 2 3 4 5 6 7 8 9 10
= 55
maybe 0
= 100
1 2 3 4 5 6 7 8 9 11
= 56
maybe 1
= 101" "$(echo "$out" | head -n 8)"
# a tail call returns where it jumps: the other function has not returned yet
expect "1 2 3 4 5 6 7 8 9 16
= 61
maybe 6" "$(echo "$out" | sed '/^$/d' | tail -n 4 | head -n 3)"

# types from the debug information
trace -qn 'pid$target:a.out:typed:entry { printf("%d %s %c %d\n", args[0]->y, stringof(args[0]->name), args[1], args[2]); exit(0); }
	pid$target:a.out:typed:return { printf("%d\n", args[1]); }' -c "$TMP/pid calls 1"
expect "8 point c 40000" "$(echo "$out" | head -n 1)" "$err"

# arg0 of a return is the offset of its instruction, and the name of the probe there
trace -qn 'pid$target:a.out:ways:return { @[arg0] = count(); }' -c "$TMP/pid calls 30"
expect "10 10 10" "$(echo "$out" | awk 'NF { print $2 }' | xargs)" "$err"
offsets=$(echo "$out" | awk 'NF { printf "%x\n", $1 }' | sort)
base=0x$(nm "$TMP/pid" | awk '$3 == "ways" { print $1 }')
expect "$offsets" "$(objdump -d --no-show-raw-insn "$TMP/pid" --disassemble=ways | awk '/\tret/ { print $1 }' | while IFS=: read -r a; do
	printf '%x\n' $((0x$a - base))
done | sort)"
for o in $offsets; do
	n=30 counts "10" "pid\$target:a.out:ways:$o { @ = count(); }"
done

# every instruction, each as often as it is executed
trace -qn 'pid$target:a.out:branch: { @[probename] = count(); }' -c "$TMP/pid calls 10"
case $HOSTTYPE in
aarch64) branch="0 10|10 5|4 5|8 5|c 5" middle="4 30|8 30|c 30" ;;
*) branch="0 10|2 10|4 5|7 5|8 5|d 5" middle="4 30|5 30|7 30|9 10|b 10" ;;
esac
expect "${branch//|/$'\n'}
entry 10
return 10" "$(echo "$out" | awk 'NF { $1 = $1; print }' | sort)" "$err"
# patterns for offsets: the loop of middle runs three times
n=10 counts "${middle//|/$'\n'}" 'pid$target:a.out:middle:[4-9a-f] { @[probename] = count(); }'

# by address
gcc -O2 -g -no-pie -o "$TMP/fixed" pid.c -pthread
at=$(nm "$TMP/fixed" | awk '$3 == "add" { print $1 }' | sed 's/^0*//')
trace -qn "pid\$target:a.out:-:$at { @[probefunc, probename] = count(); }" -c "$TMP/fixed calls 4"
expect "- $at 17" "$(echo "$out" | awk 'NF { $1 = $1; print }')" "$err"

# the names of objects
for m in a.out pid 'p?d' '*' '' "$TMP/pid" 'LM0`pid'; do
	counts 94 "pid\$target:$m:add:entry { @ = count(); }"
done
for m in libc libc.so libc.so.6 'libc*'; do
	counts 1 "pid\$target:$m:_exit:entry { @ = count(); }"
done

# what is listed: no PLT, no _init, aliases once, each return and offset by its name
trace -ln 'pid$target:a.out::entry' -c "$TMP/pid"
expect "" "$(grep -E '@plt|_init|_fini|plus|\.cold' <<<"$out")"
expect 1 "$(grep -c ' add entry' <<<"$out")"
trace -ln 'pid$target:a.out:plus:entry' -c "$TMP/pid"
expect "pid add entry" "$(awk 'NR == 2 { print $3, $4, $5 }' <<<"$out")"
trace -lvn 'pid$target:a.out:typed:entry' -c "$TMP/pid"
expect 1 "$(grep -c 'args\[0\]: .*struct point \*' <<<"$out")" "$out"

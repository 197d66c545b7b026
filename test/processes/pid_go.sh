# timeout: 300
# Go: its functions are entered once, also when their stack grows meanwhile; arguments are in Go's registers; goroutines on all CPUs, panics.
# needs: root bpf go
. "$SRC/test/lib.bash"
export GOCACHE=$TMP/cache GO111MODULE=off HOME=$TMP GOFLAGS=
cat >"$TMP/gopher.go" <<'EOT'
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

//go:noinline
func add(a, b int) int { return a + b }

//go:noinline
func deep(n int) int {
	var pad [64]int
	pad[n%64] = n
	if n == 0 {
		return pad[0]
	}
	return deep(n-1) + pad[n%64] - n + 1
}

type shape struct{ w, h int }

//go:noinline
func (s *shape) area() int { return add(s.w, s.h) }

func worker(n int, wg *sync.WaitGroup, out chan<- int) {
	defer wg.Done()
	sum := 0
	for i := 0; i < n; i++ {
		sum = add(sum, i)
	}
	sum += deep(5000) /* grows the stack, many times */
	s := &shape{n, 1}
	out <- sum + s.area()
}

//go:noinline
func panics(n int) (r int) {
	defer func() {
		if e := recover(); e != nil {
			r = -1
		}
	}()
	if n%2 == 1 {
		panic("odd")
	}
	return n
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	g, _ := strconv.Atoi(os.Args[2])
	var wg sync.WaitGroup
	out := make(chan int, g)
	for i := 0; i < g; i++ {
		wg.Add(1)
		go worker(n, &wg, out)
	}
	wg.Wait()
	t := 0
	for i := 0; i < g; i++ {
		t += <-out
	}
	for i := 0; i < 10; i++ {
		t += panics(i)
	}
	fmt.Println(t)
}
EOT
for mode in exe pie; do
	go build -buildmode=$mode -o "$TMP/gopher" "$TMP/gopher.go" 2>"$TMP/err" || { cat "$TMP/err"; exit 1; }
	plain=$("$TMP/gopher" 1000 8)
	# also with option uretprobe, which is not used where it would end the program
	for x in ustackframes=100 uretprobe; do
		trace -x $x -qn 'pid$target:a.out:main.add:entry { @add[probename] = count(); @sum = sum(arg1); }
			pid$target:a.out:main.add:return, pid$target:a.out:main.panics:entry, pid$target:a.out:main.panics:return { @[probefunc, probename] = count(); }
			pid$target:a.out:main.deep:entry, pid$target:a.out:main.deep:return { @[probefunc, probename] = count(); }
			pid$target:a.out:main.deep:entry { @deepest = max(arg0); }
			pid$target:a.out:main.??shape?.area:entry { @[probefunc, probename] = count(); }' -c "$TMP/gopher 1000 8"
		expect "$plain
entry 8008
3996008
main.(*shape).area entry 8
main.panics entry 10
main.panics return 10
main.add return 8008
main.deep entry 40008
main.deep return 40008
5000" "$(awk 'NF { $1 = $1; print }' "$TMP/out")" "$mode $x: $err"
	done
done
# every function of the program and of its runtime at once
trace -qn 'pid$target:a.out::entry { @n = count(); } pid$target:a.out::return { @r = count(); } END { printa("%@d\n", @n); }' -c "$TMP/gopher 10 4"
expect 0 "$status" "$err"
expect "$("$TMP/gopher" 10 4)" "$(head -n 1 "$TMP/out")"
# a goroutine's stack ends at its first function
trace -qn 'pid$target:a.out:main.??shape?.area:entry { ustack(); exit(0); }' -c "$TMP/gopher 10 1"
expect_match 'main\.\(\*shape\)\.area.*runtime\.goexit' "$(xargs <"$TMP/out")"
exit $fails

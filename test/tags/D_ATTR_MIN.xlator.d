// The same holds for translators.
// tag: D_ATTR_MIN 12
// run: -x amin=Stable/Stable/Common
struct out { int a; int b; };
translator struct out < int n > { a = curthread->pid; };
#pragma D attributes Evolving/Evolving/Common translator
translator struct out < string s > { b = 1; };
BEGIN
{
	x = xlate < struct out > (1).a;
	x =
	xlate < struct out > ("s").b;
}

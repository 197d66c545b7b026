// The declared stability of an inline counts, not that of its definition.
// tag: D_ATTR_MIN 11
// run: -x amin=Stable/Stable/Common
#pragma D attributes Stable/Stable/Common good
inline int good = curthread->pid;
#pragma D attributes Evolving/Evolving/Common bad
inline int bad = 1;
BEGIN
{
	x = good;
	x = bad;
}

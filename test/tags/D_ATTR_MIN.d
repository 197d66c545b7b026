// tag: D_ATTR_MIN
// run: -x amin=Standard/Standard/Common
BEGIN
{
	trace(curthread);
}

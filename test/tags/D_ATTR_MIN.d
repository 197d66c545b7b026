// tag: D_ATTR_MIN 5
// run: -x amin=Standard/Standard/Common
BEGIN
{
	trace(curthread);
}

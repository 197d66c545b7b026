// tag: D_PRED_SCALAR 3
BEGIN
/execname/
{
	trace(1);
}

// tag: D_PRED_SCALAR
BEGIN
/execname/
{
	trace(1);
}

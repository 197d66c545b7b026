// run: -x scratchsize=8
// tag: D_ALLOCA_SIZE 5
BEGIN
{
	this->p = alloca(9);
}

// tag: D_ARR_LOCAL 4
BEGIN
{
	this->x[1] = 2;
}

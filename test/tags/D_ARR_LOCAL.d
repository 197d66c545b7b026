// tag: D_ARR_LOCAL
BEGIN
{
	this->x[1] = 2;
}

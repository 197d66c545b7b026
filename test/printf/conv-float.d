// %e %E %f %g %G: floating-point values, which D only prints.
// run: -q
BEGIN
{
	this->d = (uint64_t *)alloca(8);
	*this->d = 0x400921fb54442d18;
	this->f = (uint32_t *)alloca(8);
	*this->f = 0xbfc00000;
	printf("%f %e %g %E %G\n", *(double *)this->d, *(double *)this->d, *(double *)this->d, *(double *)this->d, *(double *)this->d);
	printf("[%10.3f] [%-10.2e] [%+.1f] [%010.2f]\n", *(double *)this->d, *(double *)this->d, *(double *)this->d, *(double *)this->d);
	printf("%f %g\n", *(float *)this->f, *(float *)this->f);
	exit(0);
}

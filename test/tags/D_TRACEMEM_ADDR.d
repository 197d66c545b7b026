// tag: D_TRACEMEM_ADDR
struct s { int a; } x;
BEGIN
{
	tracemem(x, 4);
}

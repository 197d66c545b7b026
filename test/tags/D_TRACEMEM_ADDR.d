// tag: D_TRACEMEM_ADDR 5
struct s { int a; } x;
BEGIN
{
	tracemem(x, 4);
}

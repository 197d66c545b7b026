// print() shows a value with its type.
// run: -q
struct inner { int a; char c; };
enum e { ONE = 1, TWO };
struct s { int i; struct inner in; char name[4]; enum e e; int arr[3]; unsigned b : 3; void *p; } x;

BEGIN
{
	x.i = 10;
	x.in.a = 255;
	x.in.c = 'z';
	x.name[0] = 'h';
	x.name[1] = 'i';
	x.e = TWO;
	x.arr[1] = 2;
	x.b = 5;
	print(x.i);
	print("text");
	print(x);
	exit(0);
}

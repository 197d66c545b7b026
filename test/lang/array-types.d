// Arrays of strings, of pointers and of structs; pointers to arrays.
// run: -q
string names[3];
int *pointers[2];
struct s { int a; } structs[3];
int rows[2][3];
int (*row)[3];

BEGIN
{
	names[0] = "zero";
	names[2] = strjoin("tw", "o");
	printf("%s [%s] %s %d\n", names[0], names[1], names[2], sizeof (names) / sizeof (string));
	rows[1][2] = 9;
	row = rows;
	printf("%d %d\n", row[1][2], (*(row + 1))[2]);
	pointers[1] = rows[1];
	printf("%d\n", pointers[1][2]);
	structs[2].a = 5;
	printf("%d %d\n", structs[2].a, (&structs[1] + 1)->a);
	exit(0);
}

// Unsigned integers of 4 and 8 bytes print as unsigned; a struct as large as an integer prints as one.
struct two { char a, b; } t;
struct four { short a, b; } f;
struct three { char a[3]; } u;
BEGIN
{
	trace((uint32_t)-1); trace((uint64_t)-1); trace((int)-1); trace((int64_t)-2); trace((char)-1); trace((uint16_t)-1);
}
BEGIN { t.a = 1; t.b = 1; trace(t); f.a = 1; f.b = 0; trace(f); }
BEGIN { u.a[0] = 'x'; trace(u); }
BEGIN { @[(uint32_t)-1, (int)-1] = count(); exit(0); }
